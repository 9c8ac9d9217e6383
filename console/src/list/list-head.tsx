// The names of the columns above the list of pets, with the order of the list and the choice of columns.
import { ActionIcon, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { ArrowDownIcon, ArrowUpIcon, ColumnsIcon } from '../layout/icons.tsx'
import { type PetSearch, sortOf } from '../pets/filters.ts'
import type { Cell, ColumnId } from './columns.ts'

const ColumnsDialog = lazy(() =>
  import('./columns-dialog.tsx').then((file) => ({ default: file.ColumnsDialog })),
)

interface Props {
  search: PetSearch
  columns: ColumnId[]
  cells: Cell[]
  canSelect: boolean
  onSort: (sort: 'name' | undefined) => void
}

export function ListHead({ search, columns, cells, canSelect, onSort }: Props) {
  const [isOpen, dialog] = useDisclosure()
  return (
    <div className="list-head pet-row no-print">
      {canSelect && <span />}
      <span />
      <NameHead search={search} onSort={onSort} />
      <span>{columns.includes('breed') ? 'Breed' : 'Category'}</span>
      {cells.map(({ id, label }) => (
        <span key={id} className="fact">
          {label}
        </span>
      ))}
      <span>Status</span>
      {columns.includes('price') && <span className="amount">Price</span>}
      <span className="action">
        <ActionIcon size={28} aria-label="Columns" aria-haspopup="dialog" onClick={dialog.open}>
          <ColumnsIcon size={16} />
        </ActionIcon>
      </span>
      <Suspense>{isOpen && <ColumnsDialog onClose={dialog.close} />}</Suspense>
    </div>
  )
}

/** The service sorts the pets of a search or of a category newest first. */
function NameHead({ search, onSort }: Pick<Props, 'search' | 'onSort'>) {
  if (search.q !== undefined || search.category !== undefined) return <span>Name · newest first</span>
  const isByName = sortOf(search) === 'name'
  return (
    <span>
      <UnstyledButton
        className="sort"
        aria-label={isByName ? 'Sorted by name. Show the newest first' : 'Newest first. Sort by name'}
        onClick={() => onSort(isByName ? undefined : 'name')}
      >
        {isByName ? 'Name' : 'Newest first'}
        {isByName ? <ArrowUpIcon size={13} /> : <ArrowDownIcon size={13} />}
      </UnstyledButton>
    </span>
  )
}
