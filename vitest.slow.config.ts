import { defineConfig } from 'vitest/config'
import { COMPILE_CACHE } from './test/support/compile-cache.ts'

// The workers inherit it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE

export default defineConfig({
  test: {
    include: ['test/slow/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One at a time: they measure, or load the machine.
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    setupFiles: ['test/support/stop-processes.ts'],
  },
})
