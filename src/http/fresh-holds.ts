// Operations that show pets or holds first wait until expired holds are swept. Each operation declares whether it does.
import type { FastifyInstance, preHandlerHookHandler } from 'fastify'
import type { FreshHolds } from '../contract/fresh-holds.ts'

/** Throws at startup if a read does not declare `showsHolds`. */
export function showFreshHolds(app: FastifyInstance, holds: FreshHolds): void {
  const waitUntilFresh: preHandlerHookHandler = (_request, _reply, done) => {
    const fresh = holds.waitUntilFresh()
    // Most requests need no wait, and no promise.
    if (fresh === undefined) done()
    else void callAfter(fresh, done)
  }

  app.addHook('onRoute', (route) => {
    const { method, url, config } = route
    const isRead = [method].flat().some((name) => name === 'GET' || name === 'HEAD')
    if (isRead && config?.showsHolds === undefined)
      throw new Error(`${String(method)} ${url} does not declare showsHolds`)
    if (config?.showsHolds === true) route.preHandler = [waitUntilFresh, ...[route.preHandler ?? []].flat()]
  })
}

/** The promise never rejects. */
async function callAfter(fresh: Promise<void>, done: () => void): Promise<void> {
  await fresh
  done()
}
