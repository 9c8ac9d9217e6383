// `node dev/dashboards.ts`: writes the Grafana dashboards of deploy/monitoring/dashboards. With --check, it only reports files
// that are out of date. `npm run openapi` and `npm run check` call it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { buildDashboard } from './dashboards/dashboard.ts'
import { EVENTS } from './dashboards/events-dashboard.ts'
import { POSTGRESQL } from './dashboards/postgresql-dashboard.ts'
import { SERVICE } from './dashboards/service-dashboard.ts'
import { STORE } from './dashboards/store-dashboard.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'deploy/monitoring/dashboards')

for (const spec of [SERVICE, STORE, POSTGRESQL, EVENTS]) {
  const file = join(FOLDER, `${spec.name}.json`)
  const text = `${JSON.stringify(buildDashboard(spec), null, 2)}\n`
  if (!process.argv.includes('--check')) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    say(`${relative(ROOT, file)} is out of date. Run: npm run openapi`)
    process.exitCode = 1
  }
}
