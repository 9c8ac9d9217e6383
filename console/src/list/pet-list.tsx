// The list of pets. It loads the next page before you reach its end, and renders only the rows on the screen.
import { Button, Center, Loader, Stack, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { Pet } from '@petstore/client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useProfiles } from '../profile/queries.ts'
import { useCanSelect } from '../selected-pets/selection-bar.tsx'
import { selectUpTo, toggleSelected, useSelectedPets } from '../selected-pets/selection-state.ts'
import { useStore } from '../session/session.ts'
import { cellsOf, type ColumnId, gridColumns } from './columns.ts'
import { ListHead } from './list-head.tsx'
import type { PetSearch } from '../pets/filters.ts'
import { drawingOf } from '../pets/drawings.tsx'
import { FROM_LIST } from '../pets/last-list.ts'
import { PetRow } from './pet-row.tsx'
import { categoriesQuery, categoryName, petListQuery } from '../pets/queries.ts'
import { knownHeights, rememberHeights } from './row-heights.ts'
import { useColumns } from './use-columns.ts'

const FirstSteps = lazy(() =>
  import('../pets/first-steps.tsx').then((file) => ({ default: file.FirstSteps })),
)

const ROW_HEIGHT_PX = 60
/** Rows that are rendered above and below the screen. */
const OVERSCAN = 12
/** The next page is requested when this many rows are left. */
const LOAD_AHEAD = 40

interface Props {
  filters: PetSearch
  onSort: (sort: 'name' | undefined) => void
  onReset: () => void
}

export function PetList({ filters, onSort, onReset }: Props) {
  const store = useStore()
  const {
    data,
    error,
    isPending,
    refetch,
    hasNextPage,
    fetchNextPage,
    isFetchingNextPage,
    isFetchNextPageError,
  } = useInfiniteQuery(petListQuery(store, filters))
  const { data: categories } = useQuery(categoriesQuery(store))
  const pets = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  const [columns] = useColumns()
  const cells = useMemo(() => cellsOf(columns), [columns])
  const profiles = useProfiles(data?.pages ?? [], columns.length > 0)

  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [isPending])
  const listName = JSON.stringify([filters.status, filters.category, filters.q, filters.sort])
  const virtualizer = useWindowVirtualizer({
    initialMeasurementsCache: useState(() => knownHeights(listName))[0],
    count: pets.length,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN,
    scrollMargin: top,
    // A new function would make the virtualizer place all rows again.
    getItemKey: useCallback((index: number) => pets[index]?.id ?? index, [pets]),
    // Without it, each scroll event would render at once, even several within one frame.
    useFlushSync: false,
  })
  const rows = virtualizer.getVirtualItems()

  useEffect(() => () => rememberHeights(listName, virtualizer.takeSnapshot()), [listName, virtualizer])

  const lastShown = rows.at(-1)?.index ?? 0
  useEffect(() => {
    const isNearEnd = lastShown >= pets.length - LOAD_AHEAD
    if (isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [lastShown, pets.length, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])

  const canSelect = useCanSelect()
  const checked = useSelectedPets()
  const check = useCallback(
    (pet: Pet, isRange: boolean) => (isRange ? selectUpTo(pets, pet) : toggleSelected(pet)),
    [pets],
  )
  const selected = useSelection(pets, virtualizer.scrollToIndex, canSelect)

  if (isPending) return <Loading what="pets" height={ROW_HEIGHT_PX} rows={10} />
  if (error !== null && data === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (pets.length === 0) return <NoPets filters={filters} onReset={onReset} />
  return (
    <div style={gridStyle(columns, canSelect)} data-picking={checked.size > 0 || undefined}>
      <ListHead search={filters} columns={columns} cells={cells} canSelect={canSelect} onSort={onSort} />
      <div
        ref={list}
        role="list"
        aria-label="Pets"
        className="pet-rows"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {rows.map(({ index, key, start }) => {
          const pet = pets[index]
          return (
            pet && (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                role="listitem"
                aria-posinset={index + 1}
                aria-setsize={hasNextPage ? -1 : pets.length}
                style={{
                  position: 'absolute',
                  top: 0,
                  left: 0,
                  right: 0,
                  transform: `translateY(${start - top}px)`,
                }}
              >
                <PetRow
                  pet={pet}
                  category={categoryName(categories, pet.categoryId)}
                  drawing={drawingOf(categories, pet.categoryId)}
                  profile={profiles[pet.id]}
                  columns={columns}
                  cells={cells}
                  isPicking={checked.size > 0}
                  isSelected={index === selected}
                  isChecked={canSelect ? checked.has(pet.id) : undefined}
                  onCheck={check}
                />
              </div>
            )
          )
        })}
      </div>
      {isFetchingNextPage && (
        <Center p="md">
          <Loader size="sm" role="status" aria-label="Loading more pets" />
        </Center>
      )}
      {isFetchNextPageError && error !== null && (
        <ErrorMessage error={error} onRetry={() => void fetchNextPage()} />
      )}
    </div>
  )
}

function gridStyle(columns: ColumnId[], canSelect: boolean): CSSProperties {
  const { wide, medium, narrow } = gridColumns(columns, canSelect)
  return { '--wide': wide, '--medium': medium, '--narrow': narrow } as CSSProperties
}

/** Goes through the rows with `j` and `k`, opens the current one with Enter, and selects it with `x` as one of many. */
function useSelection(
  pets: Pet[],
  scrollTo: (index: number) => void,
  canSelect: boolean,
): number | undefined {
  const [selected, setSelected] = useState<number>()
  const navigate = useNavigate()
  const move = (by: number) => () => {
    const next = Math.min(Math.max((selected ?? -1) + by, 0), pets.length - 1)
    setSelected(next)
    scrollTo(next)
  }
  const current = selected === undefined ? undefined : pets[selected]
  const open = () => {
    const petId = current?.id
    if (petId !== undefined && document.activeElement === document.body) {
      void navigate({ to: '/pets/$petId', params: { petId }, state: FROM_LIST })
    }
  }
  useHotkeys([
    ['j', move(1)],
    ['k', move(-1)],
    ['x', () => canSelect && current !== undefined && toggleSelected(current)],
    // Enter must still press the button that has the focus.
    ['Enter', open, { preventDefault: false }],
  ])
  return selected
}

function NoPets({ filters: { q, status, category }, onReset }: Pick<Props, 'filters' | 'onReset'>) {
  if (q === undefined && status === undefined && category === undefined) {
    return (
      <Suspense fallback={<Loading what="pets" height={ROW_HEIGHT_PX} rows={10} />}>
        <FirstSteps />
      </Suspense>
    )
  }
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>No pet matches</Text>
      <Text c="dimmed" ta="center">
        {q === undefined
          ? 'No pet has this status and category.'
          : 'The search looks for words of the name that start with your text, for the number of a pet, or for a chip number of 15 digits. Check the spelling, or show all pets.'}
      </Text>
      <Button variant="default" onClick={onReset}>
        Show all pets
      </Button>
    </Stack>
  )
}
