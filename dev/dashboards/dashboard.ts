// A dashboard: the most important values at the top, then rows of panels, with the same variables and links in each.
import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type DashboardLink,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import { DATASOURCE, type PanelBuilder } from './panels.ts'

const TAG = 'petstore'

export interface DashboardSpec {
  /** The name of the file, and the end of the uid. */
  name: string
  title: string
  description: string
  top: PanelBuilder[]
  rows: { title: string; panels: PanelBuilder[] }[]
}

export function buildDashboard({ name, title, description, top, rows }: DashboardSpec): Dashboard {
  let id = 0
  const nextId = () => (id += 1)
  const builder = new DashboardBuilder(title)
    .uid(`petstore-${name}`)
    .description(description)
    .tags([TAG])
    .readonly()
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([
      new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
      choice('job', 'Job', 'label_values(up{job=~"petstore.*"}, job)'),
      choice('instance', 'Instance', 'label_values(up{job=~"$job"}, instance)'),
    ])
    .annotation(
      new AnnotationQueryBuilder()
        .name('Alerts')
        .datasource(DATASOURCE)
        .enable(true)
        .iconColor('red')
        .expr('ALERTS{alertname=~"Petstore.*", alertstate="firing"}')
        .titleFormat('{{alertname}}'),
    )
    .links([
      visible(
        new DashboardLinkBuilder('Petstore')
          .type(DashboardLinkType.Dashboards)
          .tags([TAG])
          .includeVars(true)
          .keepTime(true),
      ),
    ])
  for (const panel of top) builder.withPanel(panel.id(nextId()))
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title).id(nextId()))
    for (const panel of row.panels) builder.withPanel(panel.id(nextId()))
  }
  return builder.build()
}

/** A variable with which the reader chooses some values of a label, or all. */
function choice(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: ['All'], value: ['$__all'] })
}

/** By default, the SDK moves links into a menu. */
function visible(link: DashboardLinkBuilder): Builder<DashboardLink> {
  return {
    build: () => {
      const { placement: _, ...others } = link.build()
      return others
    },
  }
}
