import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/slow/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One at a time: they measure, or load the machine.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
