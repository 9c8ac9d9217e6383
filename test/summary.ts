// `node test/summary.ts FOLDER`: from the JSON reports of vitest in the folder, prints how to repeat each failed test, and as
// the last line how many tests passed, failed and were skipped.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { repeatCommand } from './support/repeat-command.ts'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { status: string; ancestorTitles: string[]; title: string }[]
  }[]
}

const [folder = ''] = process.argv.slice(2)
const root = resolve(import.meta.dirname, '..')
const reports = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Report)

for (const { name, status, message, assertionResults } of reports.flatMap(({ testResults }) => testResults)) {
  const file = relative(root, name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  // A file fails without a failed test if it cannot be loaded, or if one of its hooks fails.
  if (status === 'failed' && failed.length === 0) console.log(`failed: ${file}: ${message}`)
  for (const { ancestorTitles, title } of failed) {
    const repeat = repeatCommand(file, [...ancestorTitles, title].join(' '), process.env['TEST_SEED'] ?? '')
    console.log(`failed: ${repeat}`)
  }
}

const sum = (count: 'numPassedTests' | 'numFailedTests' | 'numPendingTests') =>
  reports.reduce((total, report) => total + report[count], 0)
console.log(
  `${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed, ${sum('numPendingTests')} skipped`,
)
