// Options shared by the three vitest configurations.
import { resolve } from 'node:path'
import { COMPILE_CACHE } from './compile-cache.ts'

// Workers inherit this variable.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE

/** Tests import the client by its package name, which must resolve to its sources without a build. */
export const CLIENT_SOURCES = {
  alias: { '@petstore/client': resolve(import.meta.dirname, '../../client/src/petstore.ts') },
}

export const SHARED_OPTIONS = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/stop-processes.ts'],
  expect: { poll: { timeout: 120_000, interval: 20 } },
}
