import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CLIENT_SOURCES, GLOBAL_SETUP, SHARED_OPTIONS } from './test/support/vitest-options.ts'
import { IS_FULL } from './test/support/volume.ts'

/** Only with TEST_VOLUME=full, or if the command line names them. test/README.md says what every merge runs instead. */
const NIGHTLY = ['alerts-real', 'create-cost', 'nats-relay', 'restore-check']

/** These compare speeds or costs in one run, so they run one at a time. */
const COMPARING = ['batching', 'create-cost', 'event-streams', 'import', 'slowloris', 'store-size']

/** These start first, because they take longest. By default, vitest starts the largest files first. */
const LONGEST = ['console', 'load-balancer', 'console-pages', 'idle', 'reference-page', 'event-faults']

const fileOf = (name: string) => `test/slow/${name}.test.ts`
const isChosen = (name: string) => IS_FULL || process.argv.some((argument) => argument.includes(name))
const EXCLUDED = [...configDefaults.exclude, ...NIGHTLY.filter((name) => !isChosen(name)).map(fileOf)]
const OPTIONS = { ...SHARED_OPTIONS, testTimeout: 900_000, hookTimeout: 900_000 }

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/${fileOf(name)}`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    globalSetup: GLOBAL_SETUP,
    sequence: { sequencer: LongestFirst },
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
