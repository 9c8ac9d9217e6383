// Which web pages may call the service, and which headers of its answers they may read.
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'Idempotency-Replayed',
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
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'X-Request-Id'],
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_KEPT_SECONDS,
    // An OPTIONS that is no preflight would otherwise be answered in plain text.
    strictPreflight: false,
  })
}
