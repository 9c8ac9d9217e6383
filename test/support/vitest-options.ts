// Options of all three vitest configurations.
import { resolve } from 'node:path'
import { COMPILE_CACHE } from './compile-cache.ts'

// The vitest workers inherit these variables.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE
/**
 * The seed of all random values, which a failed test prints. It is always the same, so that the same commit has the same
 * result. `npm run nightly` searches with new seeds.
 */
process.env['TEST_SEED'] ??= '1'

const CLIENT = resolve(import.meta.dirname, '../../client/src')

/** Resolves the package name of the client to its sources, because tests do not build the client. */
export const CLIENT_SOURCES = {
  // The longer names are first, because the shortest one also matches them.
  alias: {
    '@petstore/client/rules': `${CLIENT}/rules.ts`,
    '@petstore/client/webhooks': `${CLIENT}/webhooks.ts`,
    '@petstore/client': `${CLIENT}/petstore.ts`,
  },
}

/** Runs once for all projects of a configuration, if the options outside of the projects name it. */
export const GLOBAL_SETUP = ['test/support/global-setup.ts']

export const SHARED_OPTIONS = {
  setupFiles: ['test/support/stop-processes.ts', 'test/support/failure-report.ts'],
  // Show more of the values in titles than the default of 40 characters.
  taskTitleValueFormatTruncate: 90,
  expect: { poll: { timeout: 120_000, interval: 20 } },
}
