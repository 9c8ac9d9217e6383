import { configDefaults, defineConfig } from 'vitest/config'
import { COMPILE_CACHE } from './test/support/compile-cache.ts'

// The workers inherit it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Minutes, not seconds: `npm run test:slow`, `npm run test:proof`.
    exclude: [...configDefaults.exclude, 'test/slow/**', 'test/proof/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // Many tests wait for a process of their own; two cores take five files at once.
    maxWorkers: 5,
    isolate: false,
    maxConcurrency: 20,
    // Only a hung test reaches these: no test may fail because the host is busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    setupFiles: ['test/support/stop-processes.ts'],
  },
})
