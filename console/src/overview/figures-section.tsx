// The pets that were added and sold on each of the last days, as a chart or as a table, with the net sales of the ledger.
import { Box, Button, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { amountsText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import { countText, shortDay } from './day-chart-shape.ts'
import { DayChart } from './day-chart.tsx'
import type { OverviewDay } from './overview-days.ts'
import { figuresQuery } from './queries.ts'
import { LoadingSection, Section } from '../layout/section.tsx'

const TITLE = 'Last 30 days'

export function FiguresSection() {
  const {
    data: figures,
    error,
    isPending,
    refetch,
  } = useQuery(figuresQuery(useStore(), useScopes().has('orders:read')))
  const [isTable, setTable] = useState(false)
  if (isPending) return <LoadingSection title={TITLE} height={275} />
  if (figures === undefined) {
    return (
      <Section isCard title={TITLE}>
        {error && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      </Section>
    )
  }
  const { days, sales, countedSince, timeZone } = figures
  const toggle = (
    <Button variant="subtle" size="sm" mih={44} px="xs" mr={-8} onClick={() => setTable(!isTable)}>
      {isTable ? 'Show as a chart' : 'Show as a table'}
    </Button>
  )
  return (
    <Section isCard title={TITLE} action={toggle}>
      {isTable ? <FiguresTable days={days} /> : <DayChart days={days} />}
      <Text size="xs" c="dimmed" mt="xs">
        {sales.length > 0 && `Net sales ${amountsText(sales)}. `}
        Days in {timeZone.replaceAll('_', ' ')}.{' '}
        {countedSince !== undefined && `Counted since ${dateText(countedSince)}.`}
      </Text>
    </Section>
  )
}

function FiguresTable({ days }: { days: OverviewDay[] }) {
  return (
    <Box className="figures-table" tabIndex={0} role="region" aria-label="Table of the last days">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            <Table.Th ta="right">Added</Table.Th>
            <Table.Th ta="right">Sold</Table.Th>
            <Table.Th ta="right">Net sales</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map(({ day, added, sold, net = [] }) => (
            <Table.Tr key={day}>
              <Table.Th scope="row" fw={400}>
                {shortDay(day)}
              </Table.Th>
              <Table.Td ta="right">{countText(added)}</Table.Td>
              <Table.Td ta="right">{countText(sold)}</Table.Td>
              <Table.Td ta="right">{amountsText(net)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}
