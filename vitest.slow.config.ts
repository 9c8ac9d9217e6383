import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'

/** These mostly wait: for a browser, for child processes, for a schedule. Two of them at once do not disturb each other. */
const WAITING = [
  'alerts',
  'alerts-real',
  'client-in-browser',
  'client-package',
  'console',
  'console-pages',
  'console-sign-in',
  'dashboards',
  'export',
  'export-position',
  'image',
  'import-rules',
  'nats-relay',
  'production-install',
  'reference-page',
  'release',
  'restore',
  'restore-check',
  'server-trust',
  'sign-in-in-browser',
].map((name) => `test/slow/${name}.test.ts`)

const OPTIONS = { ...SHARED_OPTIONS, testTimeout: 900_000, hookTimeout: 900_000 }

export default defineConfig({
  test: {
    projects: [
      {
        resolve: CLIENT_SOURCES,
        test: { ...OPTIONS, name: 'waiting', include: WAITING, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        resolve: CLIENT_SOURCES,
        test: {
          ...OPTIONS,
          name: 'alone',
          include: ['test/slow/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...WAITING],
          // One file at a time, because the tests measure performance or use all cores.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
