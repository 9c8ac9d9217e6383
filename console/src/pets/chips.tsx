// The chips above the list of pets: the status with the number of pets, and the category.
import { Popover, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Counts, PetStatus } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { CloseIcon, DownIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { useStore } from '../session/session.ts'
import { petsIn } from './category-order.ts'
import { type PetSearch, STATUSES } from './filters.ts'
import { categoriesQuery, categoryName, inventoryQuery } from './queries.ts'
import { statusText } from './status-tint.tsx'

const CategorySelect = lazy(() =>
  import('./category-select.tsx').then((file) => ({ default: file.CategorySelect })),
)

/** A longer number does not fit on a phone. */
const EXACT_BELOW = 10_000
const SHORT_NUMBER = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 })

interface Props {
  filters: PetSearch
  onChange: (part: Partial<PetSearch>) => void
}

export function Chips({ filters, onChange }: Props) {
  const counts = useCounts(filters)
  const statuses: (PetStatus | undefined)[] = [undefined, ...STATUSES]
  return (
    <div className="chips" role="group" aria-label="Filters">
      {statuses.map((status) => (
        <UnstyledButton
          key={status ?? 'all'}
          className="chip"
          aria-pressed={filters.status === status}
          onClick={() => onChange({ status })}
        >
          {status === undefined ? 'All' : statusText(status)}
          {counts && (
            <span className="status-count">
              {countText(status === undefined ? petsIn(counts) : counts[status])}
            </span>
          )}
        </UnstyledButton>
      ))}
      <span className="separator" />
      <CategoryChip category={filters.category} onChange={(category) => onChange({ category })} />
    </div>
  )
}

interface CategoryProps {
  category: string | undefined
  onChange: (category: string | undefined) => void
}

function CategoryChip({ category, onChange }: CategoryProps) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const isSet = category !== undefined
  return (
    <>
      <Popover opened={isOpen} onDismiss={close} trapFocus returnFocus position="bottom-start" shadow="md">
        <Popover.Target>
          <UnstyledButton className="chip" data-on={isSet || undefined} onClick={toggle}>
            {isSet ? categoryName(categories, category) : 'Category'}
            <DownIcon size={14} />
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown>
          <Suspense fallback={<Loading what="the categories" height={36} />}>
            <CategorySelect
              aria-label="Category"
              placeholder="Any category"
              clearable
              data-autofocus
              value={category ?? null}
              // An option is outside of the popover.
              comboboxProps={{ withinPortal: false }}
              onChange={(value) => {
                onChange(value ?? undefined)
                close()
              }}
            />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
      {isSet && (
        <UnstyledButton className="chip" aria-label="Show all categories" onClick={() => onChange(undefined)}>
          <CloseIcon size={14} />
        </UnstyledButton>
      )}
    </>
  )
}

export function countText(count: number): string {
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
