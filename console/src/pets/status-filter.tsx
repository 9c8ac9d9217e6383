// Chooses the status of the pets in the list, and shows how many pets have each status.
import { SegmentedControl } from '@mantine/core'
import type { Counts, PetStatus } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useStore } from '../session/session.ts'
import { type PetSearch, STATUSES } from './filters.ts'
import { categoriesQuery, inventoryQuery } from './queries.ts'
import { statusText } from './status-badge.tsx'

const ANY_STATUS = 'all'
/** A longer number does not fit on a phone. */
const EXACT_BELOW = 10_000
const SHORT_NUMBER = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 })

interface Props {
  filters: PetSearch
  onChange: (status: PetStatus | undefined) => void
}

export function StatusFilter({ filters, onChange }: Props) {
  const counts = useCounts(filters)
  return (
    <SegmentedControl
      aria-label="Status"
      value={filters.status ?? ANY_STATUS}
      data={[
        { value: ANY_STATUS, label: 'All' },
        ...STATUSES.map((value) => ({
          value,
          label: <StatusLabel status={value} count={counts?.[value]} />,
        })),
      ]}
      onChange={(value) => onChange(value === ANY_STATUS ? undefined : value)}
    />
  )
}

function StatusLabel({ status, count }: { status: PetStatus; count: number | undefined }) {
  return (
    <>
      <span>{statusText(status)}</span>
      {count !== undefined && <span className="status-count"> {countText(count)}</span>}
    </>
  )
}

function countText(count: number): string {
  return count < EXACT_BELOW ? count.toLocaleString('en') : SHORT_NUMBER.format(count)
}

/** The pets of the shop, or of the chosen category. The service does not count the pets that a search finds. */
export function useCounts({ q, category }: PetSearch): Counts | undefined {
  const store = useStore()
  const { data: inventory } = useQuery(inventoryQuery(store))
  const { data: categories } = useQuery(categoriesQuery(store))
  if (q !== undefined) return undefined
  return category === undefined ? inventory : categories?.find(({ id }) => id === category)?.counts
}
