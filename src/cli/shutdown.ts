// The end of a process: stop taking requests, finish those under way, leave nothing open.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'

export const HARD_EXIT_AFTER_MS = 15_000
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
    process.exit(1)
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (draining) process.exit(1)
      draining = true
      void end(options, signal)
    })
  }
}

async function end(
  { app, graceMs, log, onDraining, afterwards }: DrainOptions,
  signal: string,
): Promise<void> {
  log.info({ signal }, 'shutting down')
  setTimeout(() => process.exit(1), graceMs + HARD_EXIT_AFTER_MS).unref()
  onDraining()
  try {
    await sleep(graceMs)
    // A kept-alive connection would otherwise hold the process for as long as its keep-alive lasts.
    const closing = setInterval(() => app.server.closeIdleConnections(), IDLE_CLOSED_EVERY_MS)
    await app.close()
    clearInterval(closing)
    await afterwards()
    log.info('ended')
    process.exit(0)
  } catch (err) {
    log.error({ err }, 'the shutdown failed')
    process.exit(1)
  }
}
