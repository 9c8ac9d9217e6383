import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    include: ['test/**/*.test.ts'],
    // These take minutes and have their own scripts: `npm run test:slow` and `npm run test:proof`.
    exclude: [...configDefaults.exclude, 'test/slow/**', 'test/proof/**'],
    // Many tests wait for child processes or timeouts, so two cores can run six files at once.
    maxWorkers: 6,
    isolate: false,
    maxConcurrency: 20,
    // Much longer than any test takes, so that no test fails because the host is busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
