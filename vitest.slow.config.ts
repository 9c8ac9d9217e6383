import { configDefaults, defineConfig } from 'vitest/config'
import { CLIENT_SOURCES, SHARED_OPTIONS } from './test/support/vitest-options.ts'
import { IS_FULL } from './test/support/volume.ts'

/** Only with TEST_VOLUME=full, or if the command line names them. test/README.md says what every merge runs instead. */
const NIGHTLY = ['alerts-real', 'create-cost', 'nats-relay', 'restore-check']

/** These compare speeds or costs in one run, so they run one at a time. */
const COMPARING = ['batching', 'create-cost', 'event-streams', 'import', 'slowloris', 'store-size']

const fileOf = (name: string) => `test/slow/${name}.test.ts`
const isChosen = (name: string) => IS_FULL || process.argv.some((argument) => argument.includes(name))
const EXCLUDED = [...configDefaults.exclude, ...NIGHTLY.filter((name) => !isChosen(name)).map(fileOf)]
const OPTIONS = { ...SHARED_OPTIONS, testTimeout: 900_000, hookTimeout: 900_000 }

export default defineConfig({
  test: {
    projects: [
      {
        resolve: CLIENT_SOURCES,
        test: {
          ...OPTIONS,
          name: 'together',
          include: ['test/slow/**/*.test.ts'],
          exclude: [...EXCLUDED, ...COMPARING.map(fileOf)],
          // These often wait: for a browser, for processes, for a timeout. Two cores can run three files at once.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: CLIENT_SOURCES,
        test: {
          ...OPTIONS,
          name: 'alone',
          include: COMPARING.map(fileOf),
          exclude: EXCLUDED,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
