// The totals of the shown days: how many sales, for how much, and what the amount does not include.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { figuresQuery } from '../overview/queries.ts'
import { amountText } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { sumOfDays } from './day-sales.ts'
import { type DayRange, daysBack } from './range.ts'

const HEIGHT_PX = 96

export function SalesTotals({ range, today }: { range: DayRange; today: string }) {
  const query = figuresQuery(useStore(), daysBack(range, today))
  const { data: figures, error, refetch } = useQuery(query)
  if (figures === undefined) {
    if (error !== null) return <ErrorMessage error={error} onRetry={() => void refetch()} />
    return <Loading what="the totals" height={HEIGHT_PX} />
  }
  const { days, timeZone, countedSince } = figures
  const sum = sumOfDays(days, range)
  if (sum === undefined) {
    return (
      <Text size="sm" c="dimmed">
        The service adds up the last {days.length} days only. For earlier days, export the sales.
      </Text>
    )
  }
  const { orders, totals, withoutPrice, withoutOrder } = sum
  return (
    <div>
      <dl className="sales-totals">
        <Total label="Total" texts={totals.length === 0 ? ['None'] : totals.map(amountText)} />
        <Total label="Sales" texts={[String(orders)]} />
        <Total label="Sales without a price" texts={[String(withoutPrice)]} />
        <Total label="Set to sold without an order" texts={[String(withoutOrder)]} />
      </dl>
      <Text size="xs" c="dimmed" mt="xs">
        Days in {timeZone.replaceAll('_', ' ')}. A pet that was brought back stays in the total.
        {countedSince !== undefined && ` Pets without an order are counted since ${dateText(countedSince)}.`}
      </Text>
    </div>
  )
}

function Total({ label, texts }: { label: string; texts: string[] }) {
  return (
    <div>
      <dt>{label}</dt>
      {texts.map((text) => (
        <dd key={text}>{text}</dd>
      ))}
    </div>
  )
}
