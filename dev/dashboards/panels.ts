// The panels of the dashboards. Each one says what it shows, what good looks like, and which entry of the runbook to open.
import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  FieldColorBuilder,
  FieldColorModeId,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import { type Alert, type AlertName, alertOf, runbookEntry } from '../../src/telemetry/alerts.ts'

/** The data source that the reader has chosen. */
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

const STAT_HEIGHT = 4
const SERIES_HEIGHT = 8
const LINE_WIDTH = 2
const FILL_PERCENT = 8

export interface Query {
  expr: string
  /** A name, or labels such as `{{instance}}`. */
  legend: string
}

/** The values at which a panel turns orange and red. */
export interface Limits {
  warn?: number
  /** Default: the limit of the alert. */
  bad?: number
}

export interface PanelSpec {
  title: string
  /** What the panel shows. */
  shows: string
  /** What good looks like. */
  good: string
  /** The heading of the entry in docs/runbook.md. A panel with an alert has the entry of the alert. */
  entry?: string
  /** The alert of deploy/monitoring/alerts.yaml that fires at the limit. */
  alert?: AlertName
  unit: string
  queries: Query[]
  /** Columns of the grid, which has 24. */
  width: number
  /** Rows of the grid. */
  height?: number
  decimals?: number
  limits?: Limits
}

export interface StatSpec extends PanelSpec {
  /** Shows the name of each series instead of its value, or next to it. */
  text?: BigValueTextMode
  mappings?: ValueMapping[]
  /** The text if the query returns nothing. */
  none?: string
}

export interface TimeSeriesSpec extends PanelSpec {
  /** The axis reaches at least this value, so that small changes of a healthy store do not look large. */
  softMax?: number
}

export type PanelBuilder = StatBuilder | TimeSeriesBuilder

/** One value of now. It comes from an instant query: the last value of a range would hide that a process is down. */
export function stat({ text = BigValueTextMode.Value, mappings = [], none, ...spec }: StatSpec): StatBuilder {
  const panel = new StatBuilder()
    .height(spec.height ?? STAT_HEIGHT)
    .mappings(mappings)
    .graphMode(BigValueGraphMode.None)
    .textMode(text)
    .colorMode(spec.limits === undefined ? BigValueColorMode.None : BigValueColorMode.Background)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .targets(targetsOf(spec).map((target) => target.instant()))
  if (none !== undefined) panel.noValue(none)
  return describe(panel, spec)
}

/** The legend shows the last value of each series. */
export function timeSeries({ softMax, ...spec }: TimeSeriesSpec): TimeSeriesBuilder {
  const panel = new TimeSeriesBuilder()
    .height(spec.height ?? SERIES_HEIGHT)
    .min(0)
    .lineWidth(LINE_WIDTH)
    .fillOpacity(FILL_PERCENT)
    .showPoints(VisibilityMode.Never)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName))
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .calcs(['lastNotNull']),
    )
    .thresholdsStyle(
      new GraphThresholdsStyleConfigBuilder().mode(
        spec.limits === undefined ? GraphThresholdsStyleMode.Off : GraphThresholdsStyleMode.Dashed,
      ),
    )
    .targets(targetsOf(spec).map((target) => target.range()))
  if (softMax !== undefined) panel.axisSoftMax(softMax)
  return describe(panel, spec)
}

/** Adds what every panel has. */
function describe<Panel extends PanelBuilder>(panel: Panel, spec: PanelSpec): Panel {
  const { title, shows, good, alert, unit, width, decimals, limits } = spec
  const row = alert === undefined ? undefined : alertOf(alert)
  const entry = row?.heading ?? spec.entry
  if (entry === undefined)
    throw new Error(`The panel "${title}" has neither an alert nor an entry of the runbook`)
  panel
    .title(title)
    .description(
      [
        shows,
        `**Good:** ${good}`,
        ...(alert === undefined ? [] : [`**Alert:** ${alert}`]),
        // No link: Grafana does not serve the docs, and no address of them is known.
        `**If not:** ${runbookEntry(entry)}`,
      ].join('\n\n'),
    )
    .datasource(DATASOURCE)
    .span(width)
    .unit(unit)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(stepsOf(limits, row)))
  if (decimals !== undefined) panel.decimals(decimals)
  return panel
}

function targetsOf({ queries }: PanelSpec): DataqueryBuilder[] {
  return queries.map(({ expr, legend }, index) =>
    new DataqueryBuilder().refId('ABCDEFGH'.charAt(index)).expr(expr).legendFormat(legend),
  )
}

/** If low values are bad, such as the time until a key expires, red comes first. */
function stepsOf(limits: Limits | undefined, row: Alert | undefined): Threshold[] {
  if (limits === undefined) return [{ value: null, color: 'green' }]
  const { warn, bad = row?.limit } = limits
  const step = (value: number | undefined, color: string) => (value === undefined ? [] : [{ value, color }])
  if (!row?.isLowBad) return [{ value: null, color: 'green' }, ...step(warn, 'orange'), ...step(bad, 'red')]
  return [
    { value: null, color: 'red' },
    ...step(bad, warn === undefined ? 'green' : 'orange'),
    ...step(warn, 'green'),
  ]
}
