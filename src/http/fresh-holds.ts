// Operations with `showsHolds: true` first wait for a fresh sweep of expired holds. Their responses show no hold that expired
// more than about a second ago, unless sweeps fail or cannot commit: the request then continues without one.
import type { FastifyInstance, preHandlerHookHandler } from 'fastify'
import type { FreshHolds } from '../contract/fresh-holds.ts'

/** Throws at startup if a read does not declare `showsHolds`. */
export function showFreshHolds(app: FastifyInstance, holds: FreshHolds): void {
  const waitForSweep: preHandlerHookHandler = (_request, _reply, done) => {
    const swept = holds.waitUntilFresh()
    // Usually, the last sweep is fresh. The request then continues at once, without the cost of a promise.
    if (swept === undefined) done()
    else void callAfter(swept, done)
  }

  app.addHook('onRoute', (route) => {
    const { method, url, config } = route
    const isRead = [method].flat().some((name) => name === 'GET' || name === 'HEAD')
    if (isRead && config?.showsHolds === undefined)
      throw new Error(`${String(method)} ${url} does not declare showsHolds`)
    // A write can declare it too.
    if (config?.showsHolds === true) route.preHandler = [waitForSweep, ...[route.preHandler ?? []].flat()]
  })
}

/** Always calls `done`, because `swept` never rejects. */
async function callAfter(swept: Promise<void>, done: () => void): Promise<void> {
  await swept
  done()
}
