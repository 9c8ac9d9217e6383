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
      <NameHead search={search} isDated={cells.some(({ id }) => id === 'added')} onSort={onSort} />
      <span>{columns.includes('breed') ? 'Breed' : 'Category'}</span>
      {cells.map(({ id, label }) => (
        <span key={id} className="fact" data-column={id}>
          {id === 'added' ? <AddedHead search={search} /> : label}
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
function isSortable({ q, category }: PetSearch): boolean {
  return q === undefined && category === undefined
}

interface NameHeadProps extends Pick<Props, 'search' | 'onSort'> {
  /** A wide screen then shows the order in another column. */
  isDated: boolean
}

function NameHead({ search, isDated, onSort }: NameHeadProps) {
  const newest = isDated ? 'undated' : undefined
  if (!isSortable(search))
    return (
      <span>
        Name<span className={newest}> · newest first</span>
      </span>
    )
  const isByName = sortOf(search) === 'name'
  return (
    <span>
      <UnstyledButton
        className="sort"
        aria-label={isByName ? 'Sorted by name. Show the newest first' : 'Newest first. Sort by name'}
        onClick={() => onSort(isByName ? undefined : 'name')}
      >
        {isByName ? (
          <>
            Name <ArrowUpIcon size={13} />
          </>
        ) : (
          <>
            {isDated && <span className="dated">Name</span>}
            <span className={newest}>
              Newest first <ArrowDownIcon size={13} />
            </span>
          </>
        )}
      </UnstyledButton>
    </span>
  )
}

function AddedHead({ search }: Pick<Props, 'search'>) {
  if (isSortable(search) && sortOf(search) === 'name') return 'Added'
  return (
    <span className="sort">
      Added <ArrowDownIcon size={13} />
    </span>
  )
}
