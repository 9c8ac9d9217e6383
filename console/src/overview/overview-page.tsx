// The shop at a glance: how many pets there are, what was added and sold, and which holds end next.
import './overview.css'
import { useQuery } from '@tanstack/react-query'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Page } from '../layout/page.tsx'
import { FirstSteps } from '../pets/first-steps.tsx'
import { inventoryQuery } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { CategoryCounts } from './category-counts.tsx'
import { petsIn } from '../pets/category-order.ts'
import { FailingWebhooks } from './failing-webhooks.tsx'
import { FiguresSection } from './figures-section.tsx'
import { NextHolds } from './next-holds.tsx'
import { StatusCards } from './status-cards.tsx'

export function OverviewPage() {
  const { data: counts, error, refetch } = useQuery(inventoryQuery(useStore()))
  const canReadOrders = useScopes().has('orders:read')
  const isEmpty = counts !== undefined && petsIn(counts) === 0
  return (
    <Page title="Overview">
      <FailingWebhooks />
      {error !== null && counts === undefined ? (
        <ErrorMessage error={error} onRetry={() => void refetch()} />
      ) : (
        <StatusCards counts={counts} />
      )}
      {isEmpty ? (
        <FirstSteps />
      ) : (
        <>
          <div className="overview-layout">
            <FiguresSection />
            {canReadOrders && <NextHolds />}
          </div>
          <CategoryCounts />
        </>
      )}
    </Page>
  )
}
