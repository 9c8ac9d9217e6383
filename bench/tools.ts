// Running the load generators, and reading what a process has used.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const TICKS_PER_SECOND = 100

export interface Measured {
  perSecond: number
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
  return { perSecond, failed: Number(/failed transactions: ([0-9]+)/.exec(stdout)?.[1] ?? 0) }
}

/** Seconds of processor time that a process and its children's children have used; and its memory. */
export function usedBy(pids: number[]): { cpuSeconds: number; megabytes: number } {
  let ticks = 0
  let kilobytes = 0
  for (const pid of pids) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
      kilobytes += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      // It has ended since it was listed.
    }
  }
  return { cpuSeconds: ticks / TICKS_PER_SECOND, megabytes: kilobytes / 1024 }
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/stat`, 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')[1] === String(parent)
        )
      } catch {
        return false
      }
    })
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
