// The shop at a glance: how many pets there are, what was added and sold, and which holds end next.
import './overview.css'
import { Card, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ButtonLink } from '../layout/button-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { inventoryQuery } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { CategoryCounts } from './category-counts.tsx'
import { petsIn } from './category-order.ts'
import { FiguresSection } from './figures-section.tsx'
import { NextHolds } from './next-holds.tsx'
import { StatusCards } from './status-cards.tsx'

export function OverviewPage() {
  usePageTitle('Overview')
  const { data: counts, error, refetch } = useQuery(inventoryQuery(useStore()))
  const canReadOrders = useScopes().has('orders:read')
  const isEmpty = counts !== undefined && petsIn(counts) === 0
  return (
    <Stack>
      <Title order={1} size="h2">
        Overview
      </Title>
      {error !== null && counts === undefined ? (
        <ErrorMessage error={error} onRetry={() => void refetch()} />
      ) : (
        <StatusCards counts={counts} />
      )}
      {isEmpty ? (
        <NoPets />
      ) : (
        <>
          <div className="overview-layout">
            <FiguresSection />
            {canReadOrders && <NextHolds />}
          </div>
          <CategoryCounts />
        </>
      )}
    </Stack>
  )
}

function NoPets() {
  const canWrite = useScopes().has('pets:write')
  return (
    <Card withBorder padding="xl">
      <Stack align="center" gap="xs">
        <Text fw={600}>No pets yet</Text>
        <Text c="dimmed" ta="center" maw={480}>
          Once the shop has pets, this page shows how many are available, on hold and sold, what was added and
          sold each day, and which holds end next.
        </Text>
        {canWrite && (
          <ButtonLink to="/" search={{ add: true }} mt="xs">
            Add the first pet
          </ButtonLink>
        )}
      </Stack>
    </Card>
  )
}
