// Twice as much as the service can do, with a thousand idle connections beside it: what is still answered, how
// soon the others are refused, and how soon all is well again.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Stage } from './stage.ts'
import { runWrk, usedBy } from './tools.ts'
import { wrkScript } from './workloads.ts'

const run = promisify(execFile)
const IDLE_CONNECTIONS = 1_000
const SECONDS = 8
/** Of the capacity: what a service is usually asked for. */
const NORMAL = 0.3
/** A p99 within this factor of the one before counts as normal again. */
const LIKE_BEFORE = 3

interface PerSecond {
  sent: number
  answered: number
  refused: number
  cut: number
  other: number
  p50Ms: number
  p99Ms: number
  refusedP99Ms: number
  slowestRefusalMs: number
}

interface OpenLoop {
  notSent: number
  unanswered: number
  perSecond: PerSecond[]
}

export interface Overload {
  workload: string
  capacity: number
  /** Answered per second at twice the capacity. */
  goodput: number
  goodputByCapacity: number
  /** By a 503, and by closing a connection beyond the limit. */
  refused: number
  cut: number
  other: number
  unanswered: number
  /** Due, but every connection of the clients was busy. */
  notSent: number
  /** The worst second. */
  refusedP99Ms: number
  slowestRefusalMs: number
  answeredP99Ms: number
  normalP99Ms: number
  /** Until the p99 is like before, at the load of before. */
  recoverySeconds: number
  memory: number
}

export async function measureOverload(
  stage: Stage,
  workload: 'get' | 'create',
  animals: number,
): Promise<Overload> {
  const idle = await openIdle(stage.on.origin)
  try {
    const script = wrkScript(workload, animals, stage.apiKey, stage.folder)
    const capacity = (await runWrk(script, stage.on.origin, 64, 4, stage.folder)).perSecond
    const load = (share: number) => openLoop(stage, workload, animals, capacity * share)
    const before = await load(NORMAL)
    const flood = await load(2)
    const after = await load(NORMAL)

    const sum = (name: 'answered' | 'refused' | 'cut' | 'other') =>
      flood.perSecond.reduce((total, second) => total + second[name], 0)
    const normalP99Ms = Math.max(...before.perSecond.slice(1).map(({ p99Ms }) => p99Ms))
    const wellAgain = after.perSecond.findIndex(({ p99Ms }) => p99Ms <= normalP99Ms * LIKE_BEFORE)
    const goodput = sum('answered') / SECONDS
    return {
      workload,
      capacity,
      goodput,
      goodputByCapacity: goodput / capacity,
      refused: sum('refused'),
      cut: sum('cut'),
      other: sum('other'),
      unanswered: flood.unanswered,
      notSent: flood.notSent,
      refusedP99Ms: Math.max(...flood.perSecond.map((second) => second.refusedP99Ms)),
      slowestRefusalMs: Math.max(...flood.perSecond.map((second) => second.slowestRefusalMs)),
      answeredP99Ms: Math.max(...flood.perSecond.map(({ p99Ms }) => p99Ms)),
      normalP99Ms,
      recoverySeconds: wellAgain < 0 ? Number.POSITIVE_INFINITY : wellAgain + 1,
      memory: usedBy(stage.on.pid).megabytes,
    }
  } finally {
    for (const socket of idle) socket.destroy()
  }
}

async function openLoop(stage: Stage, workload: string, animals: number, rate: number): Promise<OpenLoop> {
  const options = { origin: stage.on.origin, key: stage.apiKey, workload, animals, rate, seconds: SECONDS }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'open-loop.ts'), ...args])
  return JSON.parse(stdout) as OpenLoop
}

async function openIdle(origin: string): Promise<Socket[]> {
  const { hostname, port } = new URL(origin)
  return Promise.all(
    Array.from({ length: IDLE_CONNECTIONS }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      // One request makes it a connection that is kept open.
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
      await once(socket, 'data')
      return socket
    }),
  )
}
