import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    include: ['test/**/*.test.ts'],
    // These take minutes: `npm run test:slow`, `npm run test:proof`.
    exclude: [...configDefaults.exclude, 'test/slow/**', 'test/proof/**'],
    // Many tests wait for child processes, so two cores can run five files at once.
    maxWorkers: 5,
    isolate: false,
    maxConcurrency: 20,
    // Only a hung test reaches these: no test may fail because the host is busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
