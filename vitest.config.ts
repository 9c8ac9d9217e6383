import { configDefaults, defineConfig } from 'vitest/config'

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
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
