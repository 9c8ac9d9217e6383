// Overload test: sends requests at twice the capacity of the service, while a thousand idle connections are open.
// Measures how many requests succeed, how fast the others are rejected, and how soon latency recovers.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Setup } from './setup.ts'
import { runOpenLoop, runWrk, usedBy } from './tools.ts'
import { wrkScript } from './workloads.ts'

const IDLE_CONNECTIONS = 1_000
const SECONDS = 8
/** Normal load, as a share of the capacity. */
const NORMAL = 0.3
/** Latency has recovered once its p99 is at most this many times the p99 before the overload. */
const RECOVERED_FACTOR = 3

export interface Overload {
  workload: string
  /** Requests per second that the service handles for 64 connections. */
  capacity: number
  /** Successful responses per second at twice the capacity. */
  goodput: number
  goodputByCapacity: number
  /** 503 responses. */
  rejected: number
  /** Requests whose connection the service closed without a response, for example beyond its connection limit. */
  cut: number
  /** Responses with a status other than 200, 201, 404 and 503. */
  other: number
  /** Requests without a response at the end. */
  unacknowledged: number
  /** Requests that were due but not sent, because every client connection was busy. */
  notSent: number
  /** The p99 of the second in which rejections were slowest. */
  rejectedP99Ms: number
  slowestRejectionMs: number
  /** The p99 of the second in which successful responses were slowest. */
  acceptedP99Ms: number
  /** The p99 at normal load before the overload. */
  normalP99Ms: number
  /** Seconds at normal load until the p99 has recovered. */
  recoverySeconds: number
  /** Memory of the service after the test, in MB. */
  memory: number
}

export async function measureOverload(
  setup: Setup,
  workload: 'get' | 'create',
  pets: number,
): Promise<Overload> {
  const idle = await openIdle(setup.on.origin)
  try {
    const script = wrkScript(workload, pets, setup.apiKey, setup.folder)
    const capacity = (await runWrk(script, setup.on.origin, 64, 4, setup.folder)).perSecond
    const { apiKey } = setup
    const load = (share: number) =>
      runOpenLoop(setup.on.origin, { key: apiKey, workload, pets, rate: capacity * share, seconds: SECONDS })
    const before = await load(NORMAL)
    const overloaded = await load(2)
    const after = await load(NORMAL)

    const sum = (name: 'accepted' | 'rejected' | 'cut' | 'other') =>
      overloaded.perSecond.reduce((total, second) => total + second[name], 0)
    const normalP99Ms = Math.max(...before.perSecond.slice(1).map(({ p99Ms }) => p99Ms))
    const recovered = after.perSecond.findIndex(({ p99Ms }) => p99Ms <= normalP99Ms * RECOVERED_FACTOR)
    const goodput = sum('accepted') / SECONDS
    return {
      workload,
      capacity,
      goodput,
      goodputByCapacity: goodput / capacity,
      rejected: sum('rejected'),
      cut: sum('cut'),
      other: sum('other'),
      unacknowledged: overloaded.unacknowledged,
      notSent: overloaded.notSent,
      rejectedP99Ms: Math.max(...overloaded.perSecond.map((second) => second.rejectedP99Ms)),
      slowestRejectionMs: Math.max(...overloaded.perSecond.map((second) => second.slowestRejectionMs)),
      acceptedP99Ms: Math.max(...overloaded.perSecond.map(({ p99Ms }) => p99Ms)),
      normalP99Ms,
      recoverySeconds: recovered < 0 ? Number.POSITIVE_INFINITY : recovered + 1,
      memory: usedBy(setup.on.pid).megabytes,
    }
  } finally {
    for (const socket of idle) socket.destroy()
  }
}

async function openIdle(origin: string): Promise<Socket[]> {
  const { hostname, port } = new URL(origin)
  return Promise.all(
    Array.from({ length: IDLE_CONNECTIONS }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      // After one request, the service treats the connection as kept alive.
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
      await once(socket, 'data')
      return socket
    }),
  )
}
