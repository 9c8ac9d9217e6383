// Options that the three vitest configurations share.
import { resolve } from 'node:path'
import { COMPILE_CACHE } from './compile-cache.ts'

// The workers inherit it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE

/** Tests import the client by its package name. Without a build, the name must lead to its sources. */
export const CLIENT_SOURCES = {
  alias: { '@petstore/client': resolve(import.meta.dirname, '../../client/src/petstore.ts') },
}

export const SHARED_OPTIONS = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/stop-processes.ts'],
  expect: { poll: { timeout: 120_000, interval: 20 } },
}
