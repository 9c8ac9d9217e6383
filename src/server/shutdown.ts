// Shutdown: stops accepting requests, finishes those in flight, and exits within a fixed time.
// This file closes only the API port. The caller passes `afterwards`, which closes everything else.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { stopListening } from '../http/stop-listening.ts'
import type { Log } from '../telemetry/log.ts'

/** Max time from the end of `graceMs` until the process exits. */
export const HARD_EXIT_AFTER_MS = 15_000
const LOG_WRITTEN_WITHIN_MS = 1_000
const THREADS_IDLE_WITHIN_MS = 1_000
/** Max duration of `exit`. It is part of HARD_EXIT_AFTER_MS. */
const EXIT_WITHIN_MS = LOG_WRITTEN_WITHIN_MS + THREADS_IDLE_WITHIN_MS
const EXIT_CHECKED_EVERY_MS = 10
const IDLE_CLOSED_EVERY_MS = 100

export interface DrainOptions {
  app: FastifyInstance
  /** Time from the signal until the port closes. Meanwhile, a load balancer sees `/ready` fail and stops sending. */
  graceMs: number
  log: Log
  onDraining: () => void
  afterwards: () => Promise<void>
}

/** Shuts down gracefully on the first SIGTERM or SIGINT, and exits at once on the second. */
export function drain(options: DrainOptions): void {
  let draining = false
  // Exit, because the state of the process is undefined after an uncaught exception.
  process.on('uncaughtException', (err) => {
    options.log.fatal({ err }, 'uncaught exception')
    void exit(1, options.log)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (draining) void exit(1, options.log)
      else void shutDown(options, signal)
      draining = true
    })
  }
}

async function shutDown(
  { app, graceMs, log, onDraining, afterwards }: DrainOptions,
  signal: string,
): Promise<void> {
  log.info({ signal }, 'shutting down')
  setTimeout(() => void exit(1, log), graceMs + HARD_EXIT_AFTER_MS - EXIT_WITHIN_MS).unref()
  onDraining()
  try {
    await sleep(graceMs)
    await stopListening(app.server)
    // Without this timer, app.close() waits until idle connections reach their keep-alive timeout.
    const closing = setInterval(() => app.server.closeIdleConnections(), IDLE_CLOSED_EVERY_MS)
    await app.close()
    clearInterval(closing)
    await afterwards()
    log.info('shutdown complete')
    await exit(0, log)
  } catch (err) {
    log.error({ err }, 'shutdown failed')
    await exit(1, log)
  }
}

/** Exits within EXIT_WITHIN_MS, even if the log cannot be written. */
async function exit(code: number, { writer }: Log): Promise<void> {
  writer.flush()
  await waitUntil(() => writer.unwrittenCharacters() === 0, LOG_WRITTEN_WITHIN_MS)
  writer.close()
  await waitUntil(() => !isThreadPoolBusy(), THREADS_IDLE_WITHIN_MS)
  // process.exit() waits for all threads of the pool. If a thread is blocked, the process would never end.
  if (isThreadPoolBusy()) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}

async function waitUntil(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!isDone() && performance.now() < giveUpAt) await sleep(EXIT_CHECKED_EVERY_MS)
}

/** DNS look-ups can block a thread. So can access to a terminal, a pipe or a file on a network file system. */
function isThreadPoolBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfoReq|GetNameInfoReq)/.test(name))
}
