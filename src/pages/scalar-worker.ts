// A worker that extracts Scalar's script from its package, compresses it and exits. The package contains the script as
// a string in a Fastify plugin. In the main thread, the plugin and its dependencies would stay in memory.
import { parentPort } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'
import type { ScalarScript } from './scalar.ts'

const app = fastify()
await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
const { statusCode, body } = await app.inject('/reference/js/scalar.js')
if (statusCode !== 200) throw new Error(`Scalar's package returned ${statusCode} instead of its script`)

// Removes the link to the source map. The package does not contain it, so developer tools would report it as missing.
const bytes = Buffer.from(body.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for browser windows.
parentPort?.postMessage({ bytes, gzipped: gzipSync(bytes, { level: 9 }) } satisfies ScalarScript)
