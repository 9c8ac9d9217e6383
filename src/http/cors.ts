// CORS: which web pages can call the service, and which response headers they can read.
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'Idempotency-Replayed',
  'Petstore-Ignored-Fields',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
]
const PREFLIGHT_KEPT_SECONDS = 600

export async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'Last-Event-ID',
      'X-Request-Id',
    ],
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_KEPT_SECONDS,
    // With the default (true), an OPTIONS request that is not a preflight gets a plain-text response.
    strictPreflight: false,
  })
}

/** CORS headers for responses that bypass Fastify, as alternating names and values. */
export function corsHeaders(origins: readonly string[]): (origin: string | undefined) => readonly string[] {
  const exposed = ['access-control-expose-headers', EXPOSED.join(', ')]
  if (origins.length === 0) return () => []
  if (origins.includes('*')) return () => ['access-control-allow-origin', '*', ...exposed]
  const allowed = new Map(
    origins.map((origin) => [origin, ['vary', 'Origin', 'access-control-allow-origin', origin, ...exposed]]),
  )
  return (origin) => allowed.get(origin ?? '') ?? ['vary', 'Origin']
}
