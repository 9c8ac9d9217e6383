// Measures one target with one workload: throughput, latency, and CPU time per request.
import { say } from '../../src/cli/terminal/terminal.ts'
import { type Server, type Setup, withRoleSettings } from './setup.ts'
import { type Measured, runPgbench, runWrk, usedBy, usedWithChildren } from './tools.ts'
import { pgbenchScript, WORKLOADS, type Workload, wrkScript } from './workloads.ts'

/** The service with batching is `on`, without it `off`. */
export type HttpTarget = 'bare http' | 'off' | 'on' | 'express'
export type Target = 'pgbench' | HttpTarget

export interface Cell extends Omit<Measured, 'requests'> {
  workload: Workload
  target: Target
  connections: number
  cpuSecondsPerSecond?: number
  /** CPU time of the Node process per request. */
  nodeMicros?: number
  /** CPU time of all PostgreSQL processes per request. Absent for a target without a database. */
  postgresMicros?: number
}

export interface Bench extends Setup {
  servers: Record<HttpTarget, Server>
  pets: number
}

/** Connections of the table and the chart in docs/evidence/performance.md. */
export const MANY = 64

/** The targets of a workload in the order of measurement. A quick run measures other servers only with `get`. */
export function httpTargets(workload: Workload, connections: number, isQuick: boolean): HttpTarget[] {
  const service = ['off', 'on'] as const
  if (connections !== MANY || (isQuick && workload !== 'get')) return [...service]
  const hasRecording = workload === 'list hot' || workload === 'get'
  return hasRecording ? ['bare http', 'express', ...service] : ['express', ...service]
}

export async function measurePgbench(
  { databaseUrl, postgresPid, folder, pets }: Bench,
  workload: Workload,
  clients: number,
  seconds: number,
): Promise<Cell> {
  const before = usedWithChildren(postgresPid)
  const script = pgbenchScript(workload, pets)
  const { requests, ...measured } = await runPgbench(
    script,
    withRoleSettings(databaseUrl),
    clients,
    seconds,
    folder,
  )
  const postgresMicros = microsPerRequest(usedWithChildren(postgresPid) - before, requests)
  return { workload, target: 'pgbench', connections: 0, ...measured, postgresMicros }
}

export async function measureHttp(
  { servers, postgresPid, apiKey, folder, pets }: Bench,
  workload: Workload,
  target: HttpTarget,
  connections: number,
  seconds: number,
): Promise<Cell> {
  const { pid, origin } = servers[target]
  const script = wrkScript(workload, pets, apiKey, folder)
  const before = { node: usedBy(pid).cpuSeconds, postgres: usedWithChildren(postgresPid) }
  const { requests, ...measured } = await runWrk(script, origin, connections, seconds, folder)
  const node = usedBy(pid).cpuSeconds - before.node
  const postgres = usedWithChildren(postgresPid) - before.postgres
  return {
    workload,
    target,
    connections,
    ...measured,
    cpuSecondsPerSecond: node / seconds,
    nodeMicros: microsPerRequest(node, requests),
    ...(target !== 'bare http' && { postgresMicros: microsPerRequest(postgres, requests) }),
  }
}

function microsPerRequest(cpuSeconds: number, requests: number): number {
  return (cpuSeconds * 1e6) / Math.max(requests, 1)
}

/** Finds the number of clients with which pgbench is fastest. With any other number, the service would look better. */
export async function bestClients(bench: Bench, choices: number[]): Promise<Record<Workload, number>> {
  const best = {} as Record<Workload, number>
  for (const workload of WORKLOADS) {
    const tried = new Map(choices.map((clients) => [clients, 0]))
    if (choices.length > 1) {
      for (const clients of choices) {
        tried.set(clients, (await measurePgbench(bench, workload, clients, 1)).perSecond)
      }
    }
    best[workload] = [...tried].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 16
  }
  say(`pgbench runs with ${JSON.stringify(best)} clients`)
  return best
}

export async function warmUp(bench: Bench, isQuick: boolean): Promise<void> {
  for (const workload of WORKLOADS) {
    for (const target of httpTargets(workload, MANY, isQuick)) {
      await measureHttp(bench, workload, target, MANY, 1)
    }
  }
}
