// A Debian server with systemd as its first process, in namespaces of its own. `boot` makes the namespaces. The network is
// a namespace with slirp4netns, which needs no forwarding, no address and no firewall rule on the host, so that no port of
// the server meets one of the host, while apt and npm reach their mirrors.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ensureRoot, ensureTool, type RootContents, removeLeftovers } from '../cluster/debian-root.ts'
import { type CommandResult, type RunOptions, run, runChecked } from '../parts/processes.ts'
import { waitUntil } from '../parts/wait-until.ts'

export type DebianVersion = '12' | '13'

/** What a server has before an operator begins: to reload HAProxy, systemd runs `kill` of procps. The page must install everything else. */
const PACKAGES = ['ca-certificates', 'dbus', 'procps', 'systemd', 'systemd-sysv']
const SUITES: Record<DebianVersion, RootContents['suite']> = { 12: 'bookworm', 13: 'trixie' }
const BOOT_TIMEOUT_MS = 60_000
const SESSION_TIMEOUT_MS = 60 * 60_000
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** If the drill is killed, the kernel kills this process, and with it the namespaces. */
const WITH_DRILL = ['--pdeathsig', 'KILL']
/** Both are followed by the id of the process of the drill. */
const RUNNING = '.running-'
const GROUP = 'petstore-one-server-'
const INSIDE = ['--all', '--']

export interface MachineOptions {
  debian: DebianVersion
  /** Holds the Debian roots, one for each version. */
  folder: string
  logFolder: string
  say: (text: string) => void
}

export class Machine {
  /** The root of the server on the host. */
  readonly root: string
  /** What an operator mounts at /mnt/backup. It survives the loss of the root. */
  readonly secondPlace: string
  readonly #cgroup = `${GROUP}${process.pid}`
  readonly #logFolder: string
  readonly #networkSocket: string
  readonly #prepared: string
  #processes: ChildProcess[] = []
  #init = 0

  private constructor(prepared: string, logFolder: string) {
    this.#prepared = prepared
    this.root = `${prepared}${RUNNING}${process.pid}`
    this.secondPlace = join(logFolder, 'second-place')
    this.#logFolder = logFolder
    this.#networkSocket = join(logFolder, 'network.sock')
  }

  /** Makes a fresh server from the Debian root of this version. */
  static async create({ debian, folder, logFolder, say }: MachineOptions): Promise<Machine> {
    const prepared = join(folder, `one-server-${debian}`)
    await ensureTool('slirp4netns', 'slirp4netns', say)
    await ensureRoot(prepared, say, { suite: SUITES[debian], packages: PACKAGES })
    removeLeftovers(`${prepared}${RUNNING}`)
    await removeGroups()
    const machine = new Machine(prepared, logFolder)
    mkdirSync(machine.secondPlace, { recursive: true })
    await machine.#install()
    return machine
  }

  /** Replaces the server with a new one. Only what is in the second place stays. */
  async replace(): Promise<void> {
    await this.cutPower()
    rmSync(this.root, { recursive: true })
    await this.#install()
    await this.start()
  }

  async #install(): Promise<void> {
    await runChecked('cp', ['--archive', '--reflink=auto', this.#prepared, this.root])
    writeFileSync(join(this.root, 'etc/hostname'), 'store\n')
    // The address of slirp4netns.
    writeFileSync(join(this.root, 'etc/resolv.conf'), 'nameserver 10.0.2.3\n')
    // A host behind a proxy that signs its own certificates trusts it here.
    if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(this.root, CERTIFICATES))
  }

  /** Starts systemd, and waits until it has started all units. */
  async start(): Promise<void> {
    const boot = join(import.meta.dirname, 'boot')
    const namespaces = ['unshare', '--mount', boot, this.root, this.#cgroup, this.secondPlace]
    const outside = this.#spawn('boot', 'setpriv', [...WITH_DRILL, ...namespaces])
    const children = `/proc/${outside.pid}/task/${outside.pid}/children`
    const nameOfInit = () => {
      this.#init = Number(readFileSync(children, 'utf8').trim().split(' ')[0])
      return this.#init === 0 ? '' : readFileSync(`/proc/${this.#init}/comm`, 'utf8').trim()
    }
    await waitUntil('systemd', BOOT_TIMEOUT_MS, () => {
      if (outside.exitCode !== null) throw new Error(`systemd did not start: see ${this.#logFolder}/boot.log`)
      return nameOfInit() === 'systemd'
    })
    const network = ['--configure', '--api-socket', this.#networkSocket, `${this.#init}`, 'tap0']
    this.#spawn('network', 'setpriv', [...WITH_DRILL, 'slirp4netns', ...network])
    await waitUntil('the units of the server', BOOT_TIMEOUT_MS, async () => {
      const { stdout } = await this.run(['systemctl', 'is-system-running'])
      if (stdout.trim() === 'degraded')
        throw new Error((await this.run(['systemctl', '--failed', '--no-pager'])).stdout)
      return stdout.trim() === 'running'
    })
  }

  /** Forwards a free loopback port of the host to a port of the server, and returns it. Ends with the power of the server. */
  async forwardPort(guestPort: number): Promise<number> {
    const free = createServer()
    await once(free.listen(0, '127.0.0.1'), 'listening')
    const { port } = free.address() as AddressInfo
    await once(free.close(), 'close')
    const socket = connect(this.#networkSocket)
    const forward = { proto: 'tcp', host_addr: '127.0.0.1', host_port: port, guest_port: guestPort }
    // slirp4netns reads until the end of the request.
    socket.end(JSON.stringify({ execute: 'add_hostfwd', arguments: forward }))
    const reply = await text(socket)
    if (!('return' in JSON.parse(reply))) throw new Error(`slirp4netns forwards no port: ${reply}`)
    return port
  }

  /** Starts a command, as root, with a pipe to its input and from its output. */
  spawn(command: string[]): ChildProcessByStdio<Writable, Readable, null> {
    const args = [...WITH_DRILL, 'nsenter', `--target=${this.#init}`, ...INSIDE, ...command]
    return spawn('setpriv', args, { stdio: ['pipe', 'pipe', 'ignore'] })
  }

  /** Runs a command to its end, as root. */
  run(command: string[], options?: RunOptions): Promise<CommandResult> {
    return run('nsenter', [`--target=${this.#init}`, ...INSIDE, ...command], options)
  }

  async runChecked(command: string[], options?: RunOptions): Promise<string> {
    return runChecked('nsenter', [`--target=${this.#init}`, ...INSIDE, ...command], options)
  }

  /** Runs a script of bash like a login of root, and returns its exit code. `onOutput` gets standard output and errors. */
  async runScript(script: string, onOutput: (text: string) => void): Promise<number> {
    const file = '/root/.drill.sh'
    writeFileSync(join(this.root, file), script)
    const session = ['--quiet', '--pipe', '--wait', '--collect', '--property=WorkingDirectory=/root']
    const environment = ['HOME=/root', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`].map(
      (pair) => `--setenv=${pair}`,
    )
    const command = [
      'systemd-run',
      ...session,
      ...environment,
      'bash',
      '-c',
      `exec bash ${file} 2>&1 < /dev/null`,
    ]
    const child = spawn('nsenter', [`--target=${this.#init}`, ...INSIDE, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SESSION_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
    const [code] = (await once(child, 'close')) as [number | null]
    rmSync(join(this.root, file), { force: true })
    return code ?? 1
  }

  /** Ends the server at once, as if it lost power. Its root stays. */
  async cutPower(): Promise<void> {
    const running = this.#processes.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    )
    this.#processes = []
    const exits = running.map((child) => once(child, 'exit'))
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(exits)
    await waitUntil('the end of the server', BOOT_TIMEOUT_MS, () => !existsSync(`/proc/${this.#init}`))
    await removeGroups(this.#cgroup)
  }

  async remove(): Promise<void> {
    if (this.#init !== 0) await this.cutPower()
    for (const folder of [this.root, this.secondPlace]) rmSync(folder, { recursive: true, force: true })
  }

  #spawn(name: string, command: string, args: string[]): ChildProcess {
    mkdirSync(this.#logFolder, { recursive: true })
    const log = openSync(join(this.#logFolder, `${name}.log`), 'a')
    const child = spawn(command, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#processes.push(child)
    return child
  }
}

/** Removes the empty groups of processes of a server, or of all servers whose drill was killed. */
async function removeGroups(name?: string): Promise<void> {
  const remove = 'find "$group" -depth -type d -exec rmdir {} +'
  const ofKilled = `for group in /sys/fs/cgroup/${GROUP}*; do [ ! -d "$group" ] || [ -d "/proc/\${group##*-}" ] || ${remove}; done`
  const script = name === undefined ? ofKilled : `group=/sys/fs/cgroup/${name}; ${remove}`
  await runChecked('unshare', ['--mount', 'sh', '-c', `mount -t cgroup2 cgroup2 /sys/fs/cgroup; ${script}`])
}
