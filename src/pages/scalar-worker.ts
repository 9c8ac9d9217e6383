// Takes Scalar's script out of its package and compresses it, beside the service, and ends: the package holds the
// script as a text in a plugin for Fastify, and that with all it loads would stay in memory for good.
import { parentPort } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'
import type { ScalarScript } from './scalar.ts'

const app = fastify()
await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
const { statusCode, body } = await app.inject('/reference/js/scalar.js')
if (statusCode !== 200) throw new Error(`the package of Scalar answers ${statusCode} instead of its script`)

// The map is not in the package; whoever opens the tools of a browser would be told that it is missing.
const bytes = Buffer.from(body.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a rule for windows.
parentPort?.postMessage({ bytes, gzipped: gzipSync(bytes, { level: 9 }) } satisfies ScalarScript)
