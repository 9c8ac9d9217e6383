// Runs the load generators, and reads the resource usage of a process.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const TICKS_PER_SECOND = 100

export interface Measured {
  perSecond: number
  /** Number of requests of the whole measurement. */
  requests: number
  p50Ms?: number
  p99Ms?: number
  failed: number
}

export async function runWrk(
  script: string,
  origin: string,
  connections: number,
  seconds: number,
  folder: string,
): Promise<Measured> {
  const file = join(folder, 'request.lua')
  writeFileSync(file, script)
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    file,
    origin,
  ])
  const line = stdout.split('\n').find((text) => text.startsWith('{'))
  const { requests, us, p50, p99, badStatus, lost } = JSON.parse(line ?? '{}') as Record<string, number>
  return {
    perSecond: ((requests ?? 0) / (us ?? 1)) * 1e6,
    requests: requests ?? 0,
    p50Ms: (p50 ?? 0) / 1000,
    p99Ms: (p99 ?? 0) / 1000,
    failed: (badStatus ?? 0) + (lost ?? 0),
  }
}

export async function runPgbench(
  script: string,
  databaseUrl: string,
  clients: number,
  seconds: number,
  folder: string,
): Promise<Measured> {
  const file = join(folder, 'statement.sql')
  writeFileSync(file, script)
  const { stdout } = await run('pgbench', [
    '-n',
    '-Mprepared',
    `-f${file}`,
    `-c${clients}`,
    '-j1',
    `-T${seconds}`,
    databaseUrl,
  ])
  const perSecond = Number(/^tps = ([0-9.]+)/m.exec(stdout)?.[1])
  const requests = Number(/transactions actually processed: ([0-9]+)/.exec(stdout)?.[1] ?? 0)
  return { perSecond, requests, failed: Number(/failed transactions: ([0-9]+)/.exec(stdout)?.[1] ?? 0) }
}

interface OpenLoopOptions {
  key: string
  workload: 'list random' | 'get' | 'create'
  pets: number
  /** Requests per second. */
  rate: number
  seconds: number
  /** Default: 900. */
  connections?: number
}

interface OpenLoopSecond {
  sent: number
  accepted: number
  rejected: number
  cut: number
  other: number
  p50Ms: number
  p99Ms: number
  rejectedP99Ms: number
  slowestRejectionMs: number
}

interface OpenLoop {
  notSent: number
  unacknowledged: number
  /** Of all accepted requests. */
  p50Ms: number
  p99Ms: number
  perSecond: OpenLoopSecond[]
}

/** Runs open-loop.ts, which explains the results. */
export async function runOpenLoop(origin: string, options: OpenLoopOptions): Promise<OpenLoop> {
  const args = Object.entries({ origin, ...options }).flatMap(([name, value]) => [`--${name}`, String(value)])
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'open-loop.ts'), ...args])
  return JSON.parse(stdout) as OpenLoop
}

/** Returns the CPU seconds that a process has used so far, and its current memory. */
export function usedBy(pid: number): { cpuSeconds: number; megabytes: number } {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { cpuSeconds: readStat(pid).own / TICKS_PER_SECOND, megabytes: Number(kilobytes) / 1024 }
}

/** Returns the CPU seconds that a process and its children have used so far, including children that have exited. */
export function usedWithChildren(pid: number): number {
  // The time of a child moves to its parent when it exits. If that happens during the loop, count again.
  for (;;) {
    const { own, exitedChildren } = readStat(pid)
    const running = usedByChildren(pid)
    if (readStat(pid).exitedChildren === exitedChildren) {
      return (own + exitedChildren + running) / TICKS_PER_SECOND
    }
  }
}

function usedByChildren(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const child = readStat(Number(name))
      if (child.parent === pid) ticks += child.own
    } catch {
      // The process has exited since readdirSync.
    }
  }
  return ticks
}

/** Reads /proc/PID/stat (man 5 proc_pid_stat). CPU times are in ticks, as the sum of user and system time. */
function readStat(pid: number): { parent: number; own: number; exitedChildren: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  const [utime = 0, stime = 0, exitedUtime = 0, exitedStime = 0] = fields.slice(11, 15)
  return { parent: fields[1] ?? 0, own: utime + stime, exitedChildren: exitedUtime + exitedStime }
}
