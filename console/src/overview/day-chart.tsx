// How many pets were added and sold on each day: two rows of bars, one above the other, with a scale each. An import of
// many pets does not flatten the sales, and position tells the rows apart, not only colour.
import { Box, Group, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useState } from 'react'
import {
  barsOf,
  type ChartDay,
  chartSummary,
  countText,
  dayLabels,
  dayText,
  type Series,
  scaleTop,
  total,
} from './day-chart-shape.ts'

const ROW_HEIGHT_PX = 84
/** Space above the bars for the name and the total of the row. */
const FIRST_TOP_PX = 26
const ROW_GAP_PX = 36
const LABELS_HEIGHT_PX = 20
/** Space for the numbers of the scale. */
const LEFT_PX = 34
const HEIGHT_PX = FIRST_TOP_PX + 2 * ROW_HEIGHT_PX + ROW_GAP_PX + LABELS_HEIGHT_PX

const ROWS: { series: Series; text: string; top: number }[] = [
  { series: 'added', text: 'Added', top: FIRST_TOP_PX },
  { series: 'sold', text: 'Sold', top: FIRST_TOP_PX + ROW_HEIGHT_PX + ROW_GAP_PX },
]

export function DayChart({ days }: { days: ChartDay[] }) {
  const { ref, width } = useElementSize()
  const [current, setCurrent] = useState<number>()
  const chosen = current === undefined ? undefined : days[current]
  return (
    <Box ref={ref} pos="relative" mih={HEIGHT_PX}>
      {width > 0 && (
        <svg
          className="day-chart"
          height={HEIGHT_PX}
          viewBox={`0 0 ${width} ${HEIGHT_PX}`}
          role="img"
          aria-label={chartSummary(days)}
          onPointerLeave={() => setCurrent(undefined)}
        >
          {ROWS.map((row) => (
            <BarRow key={row.series} {...row} days={days} width={width} />
          ))}
          <DayLabels days={days} width={width} />
          <DayAreas days={days} width={width} current={current} onEnter={setCurrent} />
        </svg>
      )}
      <Group pos="absolute" top={0} right={0} aria-hidden="true">
        <Text size="xs" c="dimmed">
          {chosen && dayText(chosen)}
        </Text>
      </Group>
    </Box>
  )
}

interface DrawingProps {
  days: ChartDay[]
  width: number
}

/** An area per day over both bars and the whole height, which is easier to point at than a bar. */
function DayAreas({
  days,
  width,
  current,
  onEnter,
}: DrawingProps & { current: number | undefined; onEnter: (index: number) => void }) {
  const dayWidth = (width - LEFT_PX) / days.length
  return days.map((day, index) => (
    <rect
      key={day.day}
      className="day-area"
      data-current={index === current || undefined}
      x={LEFT_PX + index * dayWidth}
      y={FIRST_TOP_PX}
      width={dayWidth}
      height={HEIGHT_PX - FIRST_TOP_PX - LABELS_HEIGHT_PX}
      onPointerEnter={() => onEnter(index)}
    >
      <title>{dayText(day)}</title>
    </rect>
  ))
}

function BarRow({ series, text, top, days, width }: DrawingProps & (typeof ROWS)[number]) {
  const values = days.map((day) => day[series])
  const bottom = top + ROW_HEIGHT_PX
  return (
    <g>
      <text x={0} y={top - 14} fontWeight={600}>
        {text}: {countText(total(days, series))}
      </text>
      <text x={LEFT_PX - 6} y={top + 4} textAnchor="end">
        {countText(scaleTop(values))}
      </text>
      <text x={LEFT_PX - 6} y={bottom} textAnchor="end">
        0
      </text>
      <line className="axis" x1={LEFT_PX} x2={width} y1={top} y2={top} strokeDasharray="2 3" />
      <line className="axis" x1={LEFT_PX} x2={width} y1={bottom + 0.5} y2={bottom + 0.5} />
      {barsOf(values, width - LEFT_PX, ROW_HEIGHT_PX).map(({ x, width: barWidth, height }, index) => {
        const day = days[index]
        return (
          day &&
          height > 0 && (
            <rect
              key={day.day}
              className={`bar-${series}`}
              x={LEFT_PX + x}
              y={bottom - height}
              width={barWidth}
              height={height}
              rx={1.5}
            />
          )
        )
      })}
    </g>
  )
}

function DayLabels({ days, width }: DrawingProps) {
  const dayWidth = (width - LEFT_PX) / days.length
  return dayLabels(days).map(({ index, text }) => {
    const isLast = index === days.length - 1
    const x = isLast ? width : LEFT_PX + (index + 0.5) * dayWidth
    return (
      <text key={index} x={x} y={HEIGHT_PX - 4} textAnchor={isLast ? 'end' : 'middle'}>
        {text}
      </text>
    )
  })
}
