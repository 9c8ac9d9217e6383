// The end of a process: stop taking requests, finish those under way, leave nothing open.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { stopListening } from '../http/stop-listening.ts'
import type { Log } from '../telemetry/log.ts'

/** The process ends at the latest after this time, and after `graceMs`. */
export const HARD_EXIT_AFTER_MS = 15_000
/** Its last part, which also has a limit: the exit itself. */
const LOG_WRITTEN_WITHIN_MS = 1_000
const THREADS_IDLE_WITHIN_MS = 1_000
const EXIT_WITHIN_MS = LOG_WRITTEN_WITHIN_MS + THREADS_IDLE_WITHIN_MS
const EXIT_CHECKED_EVERY_MS = 10
const IDLE_CLOSED_EVERY_MS = 100

export interface DrainOptions {
  app: FastifyInstance
  /** How long to go on as if nothing had happened, so that a balancer sees `/ready` fail first. */
  graceMs: number
  log: Log
  onDraining: () => void
  afterwards: () => Promise<void>
}

/** Ends the process in order on the first SIGTERM or SIGINT, and at once on the second. */
export function drain(options: DrainOptions): void {
  let draining = false
  // What nobody caught leaves the process in a state that nobody knows.
  process.on('uncaughtException', (err) => {
    options.log.fatal({ err }, 'a fault that nothing caught')
    void exit(1, options.log)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (draining) void exit(1, options.log)
      else void end(options, signal)
      draining = true
    })
  }
}

async function end(
  { app, graceMs, log, onDraining, afterwards }: DrainOptions,
  signal: string,
): Promise<void> {
  log.info({ signal }, 'shutting down')
  setTimeout(() => void exit(1, log), graceMs + HARD_EXIT_AFTER_MS - EXIT_WITHIN_MS).unref()
  onDraining()
  try {
    await sleep(graceMs)
    await stopListening(app.server)
    // A kept-alive connection would otherwise hold the process for as long as its keep-alive lasts.
    const closing = setInterval(() => app.server.closeIdleConnections(), IDLE_CLOSED_EVERY_MS)
    await app.close()
    clearInterval(closing)
    await afterwards()
    log.info('ended')
    await exit(0, log)
  } catch (err) {
    log.error({ err }, 'the shutdown failed')
    await exit(1, log)
  }
}

/** Ends the process soon, whether or not anyone reads the log. */
async function exit(code: number, { writer }: Log): Promise<void> {
  writer.flush()
  await waitUntil(() => writer.unwrittenCharacters() === 0, LOG_WRITTEN_WITHIN_MS)
  writer.close()
  await waitUntil(() => !isThreadPoolBusy(), THREADS_IDLE_WITHIN_MS)
  // process.exit() waits for the threads of the pool, without a limit: for one that is blocked, forever.
  if (isThreadPoolBusy()) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}

async function waitUntil(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!isDone() && performance.now() < giveUpAt) await sleep(EXIT_CHECKED_EVERY_MS)
}

/** Threads can be blocked by a look-up of a name, and by a file that is a terminal, a pipe or on a remote disk. */
function isThreadPoolBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/.test(name))
}
