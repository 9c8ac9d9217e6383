import { defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

export default defineConfig({
  resolve: CLIENT_SOURCES,
  test: {
    ...SHARED_OPTIONS,
    include: ['test/slow/**/*.test.ts'],
    // One file at a time, because the tests measure performance or use all cores.
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
