import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, GLOBAL_SETUP, SHARED_OPTIONS } from './test/support/vitest-options.ts'

/** Files whose tests start commands, services or servers of their own. They take most of the time. */
const WITH_PROCESSES = 'test/**/*.process.test.ts'
/** These take minutes and have their own scripts: `npm run test:slow` and `npm run test:proof`. */
const EXCLUDED = [...configDefaults.exclude, 'test/slow/**', 'test/proof/**']

const OPTIONS = {
  ...SHARED_OPTIONS,
  isolate: false,
  // Many tests wait for child processes or timeouts, so two cores can run six files at once.
  maxWorkers: 6,
  maxConcurrency: 20,
  // Much longer than any test takes, so that no test fails because the host is busy.
  testTimeout: 600_000,
  hookTimeout: 600_000,
}

export default defineConfig({
  test: {
    globalSetup: GLOBAL_SETUP,
    projects: [
      {
        resolve: CLIENT_SOURCES,
        test: {
          ...OPTIONS,
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...EXCLUDED, WITH_PROCESSES],
        },
      },
      {
        resolve: CLIENT_SOURCES,
        test: { ...OPTIONS, name: 'processes', include: [WITH_PROCESSES], exclude: EXCLUDED },
      },
    ],
  },
})
