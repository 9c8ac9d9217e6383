// Scalar, which renders the reference page: one script of 4 MB from a pinned package.
import { Worker } from 'node:worker_threads'
import { on } from 'node:events'
import { extname } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { ASSETS } from '../http/page-addresses.ts'
import { type PageFile, pageFile } from './files.ts'

export const SCALAR_ADDRESS = `${ASSETS}/scalar-${manifest.dependencies['@scalar/fastify-api-reference']}.js`

export interface ScalarScript {
  bytes: Uint8Array
  gzipped: Uint8Array
}

let script: Promise<PageFile> | undefined

/** Returns Scalar's script. It is loaded on the first request, because most processes never serve it. */
export function scalarScript(): Promise<PageFile> {
  script ??= readScript().catch((error: unknown) => {
    script = undefined
    throw error
  })
  return script
}

async function readScript(): Promise<PageFile> {
  // In the npm package, this file and the worker end in `.js`.
  const worker = new Worker(new URL(`scalar-worker${extname(import.meta.filename)}`, import.meta.url))
  // Skips other messages: under `node --watch`, Node sends its own messages from a worker.
  for await (const [message] of on(worker, 'message', { close: ['exit'] })) {
    const { bytes, gzipped } = message as Partial<ScalarScript>
    if (bytes && gzipped) return pageFile('text/javascript; charset=utf-8', bytes, gzipped)
  }
  throw new Error("the worker exited without sending Scalar's script")
}
