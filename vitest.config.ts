import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    include: ['test/**/*.test.ts'],
    // These take minutes. Run them with `npm run test:slow` and `npm run test:proof`.
    exclude: [...configDefaults.exclude, 'test/slow/**', 'test/proof/**'],
    // Tests mostly wait for child processes, so five files can run at once on two cores.
    maxWorkers: 5,
    isolate: false,
    maxConcurrency: 20,
    // Only a test that hangs reaches these timeouts. They are long so that no test fails on a busy host.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
