// The network of the drill: a bridge in the namespace of the drill, and a namespace with one address for each node.
// Also disconnects nodes, drops packets, and undoes both.
import { mkdir } from 'node:fs/promises'
import { run, runChecked } from '../parts/processes.ts'

const BRIDGE = 'petstore'
const NETWORK = '10.98.0'
export const SUBNET = `${NETWORK}.0/24`
/** Address of everything that runs on no node: the service, the load balancers and the load. */
const BRIDGE_ADDRESS = `${NETWORK}.1`

/**
 * A node gives up a connection about 13 s after its peer stopped responding. With the kernel's default of 15 retries,
 * connections survive an isolated peer, and wait up to 20 s for their next retry after it is reachable.
 */
const TCP_RETRIES = 5

export const addressOf = (number: number): string => `${NETWORK}.${10 + number}`

export async function createBridge(): Promise<void> {
  await ip('link', 'set', 'lo', 'up')
  await mkdir('/run/netns', { recursive: true })
  // `ip netns` keeps its namespaces in files here. On a mount of its own, they disappear with the drill.
  await runChecked('mount', ['-t', 'tmpfs', 'tmpfs', '/run/netns'])
  await ip('link', 'add', BRIDGE, 'type', 'bridge')
  await ip('addr', 'add', `${BRIDGE_ADDRESS}/24`, 'dev', BRIDGE)
  await ip('link', 'set', BRIDGE, 'up')
}

export async function removeBridge(): Promise<void> {
  await ip('link', 'delete', BRIDGE)
  await runChecked('umount', ['--lazy', '/run/netns'])
}

/** The network namespace of one node, connected to the bridge. */
export class NodeNetwork {
  readonly name: string
  readonly address: string

  constructor(name: string, address: string) {
    this.name = name
    this.address = address
  }

  async create(): Promise<void> {
    await ip('netns', 'add', this.name)
    await ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.name)
    await ip('link', 'set', this.#link, 'master', BRIDGE, 'up')
    await this.#inside('addr', 'add', `${this.address}/24`, 'dev', 'eth0')
    await this.#inside('link', 'set', 'eth0', 'up')
    await this.#inside('link', 'set', 'lo', 'up')
    const { exitCode } = await run('nsenter', this.command(['tee', '/proc/sys/net/ipv4/tcp_retries2']), {
      input: `${TCP_RETRIES}`,
    })
    if (exitCode !== 0) throw new Error('The kernel rejects net.ipv4.tcp_retries2.')
  }

  async remove(): Promise<void> {
    await ip('link', 'delete', this.#link)
    await ip('netns', 'delete', this.name)
  }

  /** The namespace as /proc names it, for example `net:[4026532281]`. */
  async namespace(): Promise<string> {
    const link = await runChecked('nsenter', [
      `--net=/run/netns/${this.name}`,
      'readlink',
      '/proc/self/ns/net',
    ])
    return link.trim()
  }

  /** The arguments of `nsenter` that run a command in this namespace. */
  command(command: string[]): string[] {
    return [`--net=/run/netns/${this.name}`, ...command]
  }

  /** Cuts the node off from everything. */
  async disconnect(): Promise<void> {
    await ip('link', 'set', this.#link, 'down')
  }

  async connect(): Promise<void> {
    await ip('link', 'set', this.#link, 'up')
  }

  /** Drops every packet that this node sends to these addresses. Other traffic goes on. */
  async dropPacketsTo(addresses: string[]): Promise<void> {
    for (const address of addresses) await this.#inside('route', 'add', 'blackhole', `${address}/32`)
  }

  async sendPacketsTo(addresses: string[]): Promise<void> {
    for (const address of addresses) await this.#inside('route', 'delete', 'blackhole', `${address}/32`)
  }

  /** Drops a random part of the packets that this node sends. Packets that it receives all arrive. */
  async losePackets(percent: number, root: string): Promise<void> {
    const rules = `table ip loss {
      chain sent {
        type filter hook output priority 0; policy accept;
        oifname "eth0" numgen random mod 100 < ${percent} drop
      }
    }`
    const { exitCode, stderr } = await run('nsenter', this.command(['chroot', root, 'nft', '--file', '-']), {
      input: rules,
    })
    if (exitCode !== 0) throw new Error(`This kernel cannot drop packets at random with nftables: ${stderr}`)
  }

  async stopLosingPackets(root: string): Promise<void> {
    await runChecked('nsenter', this.command(['chroot', root, 'nft', 'delete', 'table', 'ip', 'loss']))
  }

  get #link(): string {
    return `to-${this.name}`
  }

  #inside(...args: string[]): Promise<string> {
    return ip('-netns', this.name, ...args)
  }
}

function ip(...args: string[]): Promise<string> {
  return runChecked('ip', args)
}
