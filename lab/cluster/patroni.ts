// Reads and controls the cluster over the REST API of Patroni, and finds the leader of etcd.
// Knows addresses and certificates only, not how the nodes are started.
import { type HttpsResponse, sendHttps, type Tls } from '../parts/https.ts'

export const PATRONI_PORT = 8008
const ETCD_PORT = 2379
const REQUEST_TIMEOUT_MS = 1_500
const SWITCHOVER_TIMEOUT_MS = 60_000

export interface NodeAddress {
  name: string
  address: string
  tls: Tls
}

interface Member {
  name: string
  role: string
  state: string
  timeline?: number
}

/** The state that one node reports of itself. */
interface NodeState {
  state: string
  role: string
  timeline?: number
  replication_state?: string
}

/** The node that holds the leader lock; undefined if no node does, or none responds. */
export async function findLeader<Node extends NodeAddress>(nodes: Node[]): Promise<Node | undefined> {
  const checks = await Promise.all(
    nodes.map(async (node) => {
      const response = await request(node, '/primary')
      return response?.status === 200 ? node : undefined
    }),
  )
  return checks.find((node) => node !== undefined)
}

/** The standbys that confirm commits, as the leader lists them. */
export async function findSynchronousStandbys(leader: NodeAddress): Promise<string[]> {
  const members = await readMembers(leader)
  return members.filter(({ role }) => /^(sync|quorum)_standby$/.test(role)).map(({ name }) => name)
}

/** Whether the standby on this node streams from the primary. */
export async function isNodeStreaming(node: NodeAddress): Promise<boolean> {
  const state = await readJson<NodeState>(node, '/patroni')
  return state?.replication_state === 'streaming'
}

/**
 * Whether one node is the running leader, and all others stream from it on its timeline. The member list alone is not
 * enough: for up to `ttl` seconds it still lists a node that was killed. Each node must therefore respond itself.
 */
export async function isClusterHealthy(nodes: NodeAddress[], synchronous: boolean): Promise<boolean> {
  const leader = await findLeader(nodes)
  if (!leader) return false
  const [states, members] = await Promise.all([
    Promise.all(nodes.map((node) => readJson<NodeState>(node, '/patroni'))),
    readMembers(leader),
  ])
  const timeline = states[nodes.indexOf(leader)]?.timeline
  const agree = nodes.every((node, index) => {
    const state = states[index]
    const member = members.find(({ name }) => name === node.name)
    if (!member || state?.state !== 'running') return false
    if (node === leader) return member.role === 'leader' && member.state === 'running'
    return (
      state.replication_state === 'streaming' &&
      state.timeline === timeline &&
      member.state === 'streaming' &&
      member.timeline === timeline
    )
  })
  return (
    agree &&
    members.length === nodes.length &&
    (!synchronous || members.some(({ role }) => /^(sync|quorum)_standby$/.test(role)))
  )
}

/** Makes another node the leader, and returns the message of Patroni. Patroni selects the node. */
export async function switchover(leader: NodeAddress): Promise<string> {
  const { status, body } = await sendHttps(url(leader, '/switchover'), {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
    tls: leader.tls,
    timeoutMs: SWITCHOVER_TIMEOUT_MS,
  })
  if (status !== 200) throw new Error(`Patroni rejected the switchover: ${status} ${body}`)
  return body
}

/** The node whose etcd is the leader of etcd. */
export async function findEtcdLeader<Node extends NodeAddress>(nodes: Node[]): Promise<Node> {
  for (const node of nodes) {
    const status = await readEtcdStatus(node)
    if (status && status.leader === status.header.member_id) return node
  }
  throw new Error('etcd has no leader.')
}

function readEtcdStatus(node: NodeAddress) {
  return requestEtcd<{ leader: string; header: { member_id: string } }>(node, '/v3/maintenance/status', {})
}

/** Undefined if the etcd of the node does not respond in time. */
async function requestEtcd<Body>(node: NodeAddress, path: string, sent: object): Promise<Body | undefined> {
  try {
    const { body } = await sendHttps(`https://${node.address}:${ETCD_PORT}${path}`, {
      method: 'POST',
      body: JSON.stringify(sent),
      tls: node.tls,
      timeoutMs: REQUEST_TIMEOUT_MS,
    })
    return JSON.parse(body) as Body
  } catch {
    return undefined
  }
}

async function readMembers(node: NodeAddress): Promise<Member[]> {
  return (await readJson<{ members: Member[] }>(node, '/cluster'))?.members ?? []
}

async function readJson<Body>(node: NodeAddress, path: string): Promise<Body | undefined> {
  const response = await request(node, path)
  return response && (JSON.parse(response.body) as Body)
}

/** Undefined if the node does not respond in time. A node that is not ready responds with 503 and a body. */
async function request(node: NodeAddress, path: string): Promise<HttpsResponse | undefined> {
  try {
    return await sendHttps(url(node, path), { tls: node.tls, timeoutMs: REQUEST_TIMEOUT_MS })
  } catch {
    return undefined
  }
}

function url({ address }: NodeAddress, path: string): string {
  return `https://${address}:${PATRONI_PORT}${path}`
}
