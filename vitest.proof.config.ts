import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/proof/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One at a time: each of them loads the machine.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
