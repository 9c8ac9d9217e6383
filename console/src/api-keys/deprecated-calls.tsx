// Which keys still call operations that a later version removes, and how many days are left.
import { Anchor, Card, Stack, Table, Text, Title } from '@mantine/core'
import type { DeprecatedCall } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { calendarDayText, dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useStore } from '../session/session.ts'
import { daysLeft } from './key-state.ts'
import { deprecatedCallsQuery } from './queries.ts'

/** Pages that show what to call instead. */
const PAGES: Record<string, string> = { getPet: '/docs/deprecations/get-pet' }
/** From here on, the number of days is marked. */
const URGENT_DAYS = 90

export function DeprecatedCalls({ now }: { now: number }) {
  const { data: calls, error, isPending, refetch } = useQuery(deprecatedCallsQuery(useStore()))
  return (
    <Card component="section" withBorder aria-labelledby="deprecated-calls">
      <Title order={2} size="h5" id="deprecated-calls">
        Calls that will stop working
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Programs that call an operation which a later version removes. Ask their developers to change them in
        time.
      </Text>
      {isPending && <Loading what="the calls" height={64} />}
      {error && calls === undefined && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {calls?.length === 0 && <Text size="sm">No key calls such an operation. There is nothing to do.</Text>}
      {calls !== undefined && calls.length > 0 && <CallTable calls={calls} now={now} />}
    </Card>
  )
}

function CallTable({ calls, now }: { calls: DeprecatedCall[]; now: number }) {
  return (
    <Table verticalSpacing="sm" horizontalSpacing={0}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Key and operation</Table.Th>
          <Table.Th ta="right" pl="sm">
            Calls in 30 days
          </Table.Th>
          <Table.Th ta="right" pl="sm">
            Days left
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {calls.map((call) => (
          <Table.Tr key={`${call.apiKeyId} ${call.operation}`}>
            <Table.Td>
              <Stack gap={0}>
                <Text size="sm" fw={600}>
                  {call.actor}
                </Text>
                <Text size="xs" c="dimmed">
                  <Operation name={call.operation} />, last called on {calendarDayText(call.lastDay)}
                </Text>
              </Stack>
            </Table.Td>
            <Table.Td ta="right" pl="sm">
              {call.callsLast30Days.toLocaleString('en-GB')}
            </Table.Td>
            <Table.Td ta="right" pl="sm" style={{ whiteSpace: 'nowrap' }}>
              <DaysLeft call={call} now={now} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Operation({ name }: { name: string }) {
  const page = PAGES[name]
  return page === undefined ? (
    name
  ) : (
    <Anchor href={page} inherit underline="always">
      {name}
    </Anchor>
  )
}

function DaysLeft({ call, now }: { call: DeprecatedCall; now: number }) {
  const days = daysLeft(call, now)
  if (days === undefined || call.removedAt === undefined) return 'Not known'
  return (
    <>
      <Text size="sm" fw={600} c={days < URGENT_DAYS ? 'var(--bad-ink)' : 'inherit'}>
        {days.toLocaleString('en-GB')}
      </Text>
      <Text size="xs" c="dimmed">
        {dateText(call.removedAt)}
      </Text>
    </>
  )
}
