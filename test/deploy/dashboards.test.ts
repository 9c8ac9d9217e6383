// The files of the Grafana dashboards: structure, links, and thresholds equal to the limits of the alerts.
// test/slow/dashboards.test.ts runs their queries.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { GridPos, Panel } from '@grafana/grafana-foundation-sdk/dashboard'
import * as units from '@grafana/grafana-foundation-sdk/units'
import { describe, expect, test } from 'vitest'
import { deliveryMetrics, serviceMetrics } from '../../dev/metrics.ts'
import { panelsOf, queriesOf, readDashboards } from '../../lab/alerts/dashboards/grafana.ts'
import { ALERT_NAMES, type AlertName, alertOf, anchorOf } from '../../src/telemetry/alerts.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const dashboards = readDashboards()
const panels = dashboards.flatMap(({ name, dashboard }) =>
  panelsOf(dashboard).map((panel) => ({ name: `${name}: ${panel.title}`, panel })),
)
const expressions = panels.flatMap(({ panel }) => queriesOf(panel).map(({ expr }) => expr))

/** The fields of an interface in the types of the SDK. */
function fieldsOf(module: string, name: string): string[] {
  const types = read(`node_modules/@grafana/grafana-foundation-sdk/dist/${module}/types.gen.d.ts`)
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n([^]*?)^\\}`, 'm').exec(types) ?? []
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, field = '']) => field)
}

function unknownFields(value: object, module: string, name: string): string[] {
  const known = fieldsOf(module, name)
  expect(known, name).not.toEqual([])
  return Object.keys(value)
    .filter((field) => !known.includes(field))
    .map((field) => `${name}.${field}`)
}

test('there is a dashboard of the service, the store, PostgreSQL and the events, each with a uid of its own', () => {
  expect(dashboards.map(({ name }) => name)).toEqual(['events', 'postgresql', 'service', 'store'])
  expect(new Set(dashboards.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboards.length)
})

describe.each(dashboards)('$name', ({ dashboard }) => {
  test('has only fields that the types of Grafana know', () => {
    const problems = [
      unknownFields(dashboard, 'dashboard', 'Dashboard'),
      (dashboard.templating.list ?? []).map((variable) =>
        unknownFields(variable, 'dashboard', 'VariableModel'),
      ),
      (dashboard.links ?? []).map((link) => unknownFields(link, 'dashboard', 'DashboardLink')),
      panelsOf(dashboard).map((panel) => [
        unknownFields(panel, 'dashboard', 'Panel'),
        unknownFields(panel.gridPos ?? {}, 'dashboard', 'GridPos'),
        unknownFields(panel.fieldConfig?.defaults ?? {}, 'dashboard', 'FieldConfig'),
        queriesOf(panel).map((query) => unknownFields(query, 'prometheus', 'Dataquery')),
      ]),
    ]
    expect(problems.flat(4)).toEqual([])
  })

  test('has panels with different ids that do not overlap and fit into 24 columns', () => {
    const all = dashboard.panels ?? []
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    const places = all.map(({ gridPos }) => gridPos as GridPos)
    const overlaps = places.flatMap((one, index) =>
      places.slice(index + 1).filter((other) => overlap(one, other)),
    )
    expect(overlaps).toEqual([])
    expect(places.filter(({ x, w }) => x < 0 || x + w > 24)).toEqual([])
  })

  test('has the variables data source, job and instance, and links to the other dashboards', () => {
    expect(dashboard.templating.list?.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance'])
    expect(dashboard.links).toMatchObject([
      { type: 'dashboards', tags: dashboard.tags, includeVars: true, keepTime: true },
    ])
  })

  test('starts with a row of values', () => {
    const first = panelsOf(dashboard).filter(({ gridPos }) => gridPos?.y === 0)
    expect(first.map(({ type }) => type)).toEqual(first.map(() => 'stat'))
    expect(first.reduce((width, { gridPos }) => width + (gridPos?.w ?? 0), 0)).toBe(24)
  })
})

function overlap(one: GridPos, other: GridPos): boolean {
  return (
    one.x < other.x + other.w &&
    other.x < one.x + one.w &&
    one.y < other.y + other.h &&
    other.y < one.y + one.h
  )
}

test('every panel has a known unit, says what good looks like, and names an entry of the runbook', () => {
  const headings = new Set(
    [...read('docs/runbook.md').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text)),
  )
  const known = new Set<unknown>(Object.values(units))
  const problems = panels.flatMap(({ name, panel }) => {
    const anchor = /\*\*If not:\*\* docs\/runbook\.md#(\S+)$/.exec(panel.description ?? '')?.[1]
    return [
      ...(known.has(panel.fieldConfig?.defaults.unit) ? [] : [`${name} has no known unit`]),
      ...(panel.description?.includes('**Good:** ') ? [] : [`${name} does not say what good looks like`]),
      ...(anchor !== undefined && headings.has(anchor) ? [] : [`${name} names ${anchor}`]),
    ]
  })
  expect(problems).toEqual([])
})

test('every metric in a query exists, and every metric of Petstore is on a dashboard', () => {
  const all = [...serviceMetrics(), ...deliveryMetrics()].map(({ name }) => name)
  const used = expressions.flatMap((expression) => expression.match(/\bpetstore_\w+/g) ?? [])
  const names = new Set(
    used.map((name) => (all.includes(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))),
  )
  expect([...names].filter((name) => !all.includes(name))).toEqual([])
  expect(all.filter((name) => !names.has(name))).toEqual([])
})

/** The limit at which a panel turns red. A panel that counts faults turns red at 1, because its alert fires above 0. */
function redLimit(panel: Panel): number | null | undefined {
  const steps = panel.fieldConfig?.defaults.thresholds?.steps ?? []
  const red = steps.findIndex(({ color }) => color === 'red')
  // If low values are bad, red is the first step, and ends at the next one.
  return red === 0 ? steps[1]?.value : steps[red]?.value
}

test('a panel with an alert turns red at the limit of the alert', () => {
  const withAlert = panels.flatMap(({ name, panel }) => {
    const alert = /\*\*Alert:\*\* (\w+)$/m.exec(panel.description ?? '')?.[1]
    const limit = redLimit(panel)
    return alert === undefined || limit === undefined ? [] : [{ name, alert, limit }]
  })
  expect(new Set(withAlert.map(({ alert }) => alert)).size).toBeGreaterThan(10)
  const different = withAlert.filter(
    ({ alert, limit }) => limit !== 1 && limit !== alertOf(alert as AlertName).limit,
  )
  expect(different).toEqual([])
})

test('every alert is on a dashboard', () => {
  const shown = panels.map(({ panel }) => panel.description ?? '').join('\n')
  expect(ALERT_NAMES.filter((alert) => !shown.includes(`**Alert:** ${alert}`))).toEqual([])
})
