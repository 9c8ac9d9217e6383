import { defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, GLOBAL_SETUP, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    globalSetup: GLOBAL_SETUP,
    include: ['test/proof/**/*.test.ts'],
    // Each test uses about one core.
    maxWorkers: 2,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
  },
})
