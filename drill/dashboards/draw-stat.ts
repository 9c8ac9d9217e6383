// Draws a stat panel: the values of now, in the colour of their threshold.
import { BigValueColorMode, BigValueTextMode } from '@grafana/grafana-foundation-sdk/common'
import { MappingType, type Panel, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import type { NamedSeries } from './grafana.ts'
import { type Box, cut, drawCard, escapeXml, fixed, GREY, INK, LEVELS, TITLE_HEIGHT, widthOf } from './svg.ts'
import { formatValue } from './units.ts'

const FONT_MAX = 30
const FONT_MIN = 11
const SHOWN_MAX = 5
/** How much wider bold text is. */
const BOLD = 1.15

interface Shown {
  text: string
  colour: string | undefined
}

export function drawStat(panel: Panel, series: readonly NamedSeries[], box: Box): string {
  const { colorMode } = panel.options as { colorMode: BigValueColorMode }
  const isColoured = colorMode !== BigValueColorMode.None
  const shown = shownOf(panel, series)
  const worst = ['red', 'orange', 'green'].find((level) => shown.some(({ colour }) => colour === level))
  const level = isColoured && worst !== undefined ? LEVELS[worst] : undefined
  const lines =
    shown.length <= SHOWN_MAX
      ? shown
      : [...shown.slice(0, SHOWN_MAX - 1), { text: `+ ${shown.length - SHOWN_MAX + 1} more` }]
  const widest = lines.reduce((text, line) => (line.text.length > text.length ? line.text : text), '')
  const room = box.height - TITLE_HEIGHT - 10
  const fontSize = Math.max(
    FONT_MIN,
    Math.min(
      FONT_MAX,
      room / lines.length / 1.3,
      (FONT_MAX * (box.width - 24)) / (BOLD * widthOf(widest, FONT_MAX)),
    ),
  )
  const middle = box.y + TITLE_HEIGHT + room / 2
  const texts = lines.map(({ text }, index) => {
    const y = middle + (index - (lines.length - 1) / 2) * fontSize * 1.25 + fontSize * 0.35
    const fitting = escapeXml(cut(text, BOLD * fontSize, box.width - 12))
    const colour = series.length === 0 && level === undefined ? GREY : (level?.ink ?? INK)
    return `<text x="${box.x + box.width / 2}" y="${fixed(y)}" text-anchor="middle" font-size="${fixed(fontSize)}" font-weight="600" fill="${colour}">${fitting}</text>`
  })
  return [drawCard(box, panel.title ?? '', panel.description ?? '', level?.fill), ...texts].join('\n')
}

function shownOf(panel: Panel, series: readonly NamedSeries[]): Shown[] {
  const { unit = '', decimals, mappings = [], noValue = 'no data' } = panel.fieldConfig?.defaults ?? {}
  const { textMode } = panel.options as { textMode: BigValueTextMode }
  const found = series.flatMap(({ name, values }) => {
    const value = values.at(-1)?.[1]
    if (value === undefined) return []
    const mapped = mappedBy(mappings, value)
    const text = mapped?.text ?? formatValue(value, unit, decimals)
    const colour = mapped?.color ?? levelOf(panel, value)
    if (textMode === BigValueTextMode.Name) return [{ text: name, colour }]
    return [{ text: textMode === BigValueTextMode.ValueAndName ? `${name}: ${text}` : text, colour }]
  })
  return found.length > 0 ? found : [{ text: noValue, colour: undefined }]
}

/** The colour of the highest threshold that the value reaches. */
function levelOf(panel: Panel, value: number): string | undefined {
  const steps = panel.fieldConfig?.defaults.thresholds?.steps ?? []
  return steps.findLast((step) => step.value === null || value >= step.value)?.color
}

function mappedBy(
  mappings: readonly ValueMapping[],
  value: number,
): { text?: string; color?: string } | undefined {
  for (const mapping of mappings) {
    if (mapping.type === MappingType.ValueToText && mapping.options[value] !== undefined)
      return mapping.options[value]
    if (mapping.type !== MappingType.RangeToText) continue
    const { from, to, result } = mapping.options
    if (value >= (from ?? Number.NEGATIVE_INFINITY) && value <= (to ?? Number.POSITIVE_INFINITY))
      return result
  }
  return undefined
}
