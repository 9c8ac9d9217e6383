// If-None-Match: a read of one thing that the client already has returns 304 without a body. An operation takes part if it
// declares the header (`IfNoneMatchHeaders`). Without an ETag of its own, the response gets a hash of its text.
import type { FastifyInstance } from 'fastify'
import { etagOfText, isKnownTag } from './etag.ts'
import type { DeclaredParts } from './operation.ts'

export function returnNotModified(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { headers } = (route.schema ?? {}) as DeclaredParts
    if (headers === undefined || !('if-none-match' in headers.properties) || route.method === 'PUT') return
    const { hasOwnEtag = false } = route.config ?? {}
    // First, because Fastify removes the payload of a response to HEAD.
    route.onSend = [
      (request, reply, payload, done) => {
        const { 'if-none-match': known } = request.headers
        const isDone = hasOwnEtag && known === undefined
        if (isDone || reply.statusCode !== 200) return done(null, payload)
        if (!hasOwnEtag) reply.header('etag', etagOfText(payload as string))
        const tag = reply.getHeader('etag')
        if (typeof tag !== 'string' || !isKnownTag(known, tag)) return done(null, payload)
        reply.code(304).removeHeader('content-type').removeHeader('content-length')
        done(null, null)
      },
      ...[route.onSend ?? []].flat(),
    ]
  })
}
