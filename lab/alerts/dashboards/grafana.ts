// Does with a dashboard what Grafana does: finds the values of its variables, and runs the queries of its panels.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus'
import type { PrometheusClient, Range } from '../prometheus-client.ts'
import { MONITORING_FOLDER } from '../prometheus.ts'

const FOLDER = join(MONITORING_FOLDER, 'dashboards')
/** Grafana extends the window of a rate to this many scrapes. */
const SCRAPES_PER_RATE = 4

export interface NamedSeries {
  /** The text in the legend. */
  name: string
  values: [seconds: number, value: number][]
}

interface View extends Range {
  /** The interval of the data source. */
  scrapeSeconds: number
}

export function readDashboards(): { name: string; dashboard: Dashboard }[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => ({
      name: file.replace('.json', ''),
      dashboard: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Dashboard,
    }))
}

export function panelsOf({ panels = [] }: Dashboard): Panel[] {
  return panels.filter((panel): panel is Panel => panel.type !== 'row')
}

export const queriesOf = ({ targets = [] }: Panel) => targets as Dataquery[]

/** Opens a dashboard with the values that its variables have at the end of the view, all of them chosen. */
export async function openDashboard(client: PrometheusClient, { templating }: Dashboard, view: View) {
  const variables: Record<string, string> = {}
  for (const { name, query } of templating.list ?? []) {
    const [, selector = '', label = ''] =
      /^label_values\((.*), (\w+)\)$/.exec(typeof query === 'string' ? query : '') ?? []
    if (selector === '') continue
    const window = `${Math.max(1, Math.ceil(view.to - view.from))}s`
    const expression = `group by (${label}) (last_over_time(${withVariables(selector, variables)}[${window}]))`
    const found = await client.query(expression, view.to)
    const values = found.map(({ labels }) => labels[label] ?? '').toSorted()
    variables[name] = `(${values.map(escapeForRegex).join('|')})`
  }
  return {
    run: (panel: Panel): Promise<NamedSeries[]> => runPanel(client, panel, variables, view),
  }
}

/** The series of all queries of a panel. A value that is not a number is no value, as in Grafana. */
async function runPanel(
  client: PrometheusClient,
  panel: Panel,
  variables: Record<string, string>,
  view: View,
): Promise<NamedSeries[]> {
  const results = await Promise.all(
    queriesOf(panel).map(async (query) => {
      const expression = withVariables(query.expr, {
        ...variables,
        __rate_interval: rateInterval(view),
        __range: `${Math.ceil(view.to - view.from)}s`,
      })
      const found = query.instant
        ? await client.query(expression, view.to)
        : await client.queryRange(expression, view)
      return found.map(({ labels, values }) => ({
        name: legendOf(query.legendFormat ?? '', labels),
        values: values.filter(([, value]) => !Number.isNaN(value)),
      }))
    }),
  )
  return results.flat()
}

function rateInterval({ stepSeconds, scrapeSeconds }: View): string {
  return `${Math.ceil(Math.max(stepSeconds + scrapeSeconds, SCRAPES_PER_RATE * scrapeSeconds))}s`
}

function withVariables(expression: string, variables: Record<string, string>): string {
  return expression.replaceAll(/\$(\w+)/g, (whole, name: string) => variables[name] ?? whole)
}

/** Escapes a value once for the regular expression, and once for the string in PromQL. */
function escapeForRegex(value: string): string {
  return value.replaceAll(/[\\^$*+?.()|[\]{}]/g, '\\\\$&')
}

function legendOf(format: string, labels: Record<string, string>): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '')
}
