import { defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    include: ['test/proof/**/*.test.ts'],
    // One file at a time, because each test uses all cores.
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
  },
})
