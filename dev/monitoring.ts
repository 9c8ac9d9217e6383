// `node dev/monitoring.ts`: writes the alerts and the Grafana dashboards of deploy/monitoring. With --check, it only reports
// files that are out of date. `npm run openapi` and `npm run check` call it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { say } from '../src/cli/terminal/terminal.ts'
import { alertsFile } from './alerts.ts'
import { buildDashboard } from './dashboards/dashboard.ts'
import { EVENTS } from './dashboards/events-dashboard.ts'
import { POSTGRESQL } from './dashboards/postgresql-dashboard.ts'
import { SERVICE } from './dashboards/service-dashboard.ts'
import { STORE } from './dashboards/store-dashboard.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'deploy/monitoring')

const files = {
  'alerts.yaml': alertsFile(),
  ...Object.fromEntries(
    [SERVICE, STORE, POSTGRESQL, EVENTS].map((spec) => [
      `dashboards/${spec.name}.json`,
      `${JSON.stringify(buildDashboard(spec), null, 2)}\n`,
    ]),
  ),
}
for (const [name, text] of Object.entries(files)) {
  const file = join(FOLDER, name)
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    say(`${relative(ROOT, file)} is out of date. Run: npm run openapi`)
    process.exitCode = 1
  }
}
