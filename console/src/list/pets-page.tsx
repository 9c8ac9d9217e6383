// The list of pets with its filters, and the form for a new pet.
import './list.css'
import { Button, CloseButton, Kbd, Menu, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ButtonLink } from '../layout/button-link.tsx'
import { DownloadIcon, PlusIcon, SearchIcon, UploadIcon } from '../layout/icons.tsx'
import { MenuButton } from '../layout/menu-button.tsx'
import { Page } from '../layout/page.tsx'
import { petsIn } from '../pets/category-order.ts'
import { Chips, countText, useCounts } from '../pets/chips.tsx'
import { listFilters, type PetSearch, sortOf } from '../pets/filters.ts'
import { rememberFilters } from '../pets/last-list.ts'
import { SelectionBar } from '../selected-pets/selection-bar.tsx'
import { useScopes } from '../session/session.ts'
import { PetList } from './pet-list.tsx'

const PetForm = lazy(() => import('../pet/pet-form.tsx').then((file) => ({ default: file.PetForm })))
const ExportDialog = lazy(() =>
  import('../export/export-dialog.tsx').then((file) => ({ default: file.ExportDialog })),
)

const SEARCH_AFTER_MS = 200

export function PetsPage() {
  const search = useSearch({ from: '/' })
  const navigate = useNavigate({ from: '/' })
  useEffect(() => rememberFilters(search), [search])
  const canWrite = useScopes().has('pets:write')
  const counts = useCounts(search)
  const change = (part: Partial<PetSearch>) =>
    void navigate({ search: (current) => ({ ...current, ...part }), replace: true, resetScroll: true })
  const sort = (order: 'name' | undefined) => change({ sort: order })
  return (
    <Page
      title="Pets"
      count={counts && countText(search.status === undefined ? petsIn(counts) : counts[search.status])}
      actions={<Actions search={search} onAdd={() => change({ add: true })} onSort={sort} />}
      isFlush
    >
      <div className="tools no-print">
        <SearchField value={search.q ?? ''} onChange={(q) => change({ q: q === '' ? undefined : q })} />
        <Chips filters={search} onChange={change} />
      </div>
      <PetList
        filters={search}
        onSort={sort}
        onReset={() => change({ q: undefined, status: undefined, category: undefined })}
      />
      <SelectionBar filters={search} />
      <Suspense>
        {canWrite && search.add === true && <PetForm onClose={() => change({ add: undefined })} />}
      </Suspense>
    </Page>
  )
}

interface ActionsProps {
  search: PetSearch
  onAdd: () => void
  onSort: (sort: 'name' | undefined) => void
}

function Actions({ search, onAdd, onSort }: ActionsProps) {
  const canWrite = useScopes().has('pets:write')
  const [isExporting, { open, close }] = useDisclosure()
  const { id, chipNumber } = listFilters(search)
  // A search by number shows one pet, or few.
  const canExport = id === undefined && chipNumber === undefined
  const isByName = sortOf(search) === 'name'
  return (
    <>
      {canWrite && (
        <ButtonLink
          to="/import"
          variant="subtle"
          className="only-desk"
          leftSection={<UploadIcon size={16} />}
        >
          Import
        </ButtonLink>
      )}
      <Button
        variant="subtle"
        className="only-desk"
        leftSection={<DownloadIcon size={16} />}
        aria-haspopup="dialog"
        disabled={!canExport}
        onClick={open}
      >
        Export
      </Button>
      <span className="only-phone">
        <MenuButton label="Sort, export">
          <Menu.Item onClick={() => onSort(isByName ? undefined : 'name')}>
            {isByName ? 'Show the newest first' : 'Sort by name'}
          </Menu.Item>
          <Menu.Item disabled={!canExport} onClick={open}>
            Export
          </Menu.Item>
        </MenuButton>
      </span>
      {canWrite && (
        <Button
          className="icon-on-phone"
          leftSection={<PlusIcon size={16} />}
          rightSection={<Kbd size="xs">N</Kbd>}
          onClick={onAdd}
        >
          Add a pet
        </Button>
      )}
      <Suspense>{isExporting && <ExportDialog search={search} onClose={close} />}</Suspense>
    </>
  )
}

/** Searches after a short pause in typing, not after each letter. */
function SearchField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const search = useDebouncedCallback(onChange, SEARCH_AFTER_MS)
  function clear(): void {
    search.cancel()
    setText('')
    onChange('')
    document.getElementById('search')?.focus()
  }
  return (
    <TextInput
      id="search"
      aria-label="Search by name, number or chip number"
      placeholder="Name, number or chip"
      type="search"
      leftSection={<SearchIcon size={16} />}
      className="search"
      rightSection={
        text === '' ? <Kbd size="xs">/</Kbd> : <CloseButton aria-label="Clear the search" onClick={clear} />
      }
      rightSectionPointerEvents="all"
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        search(currentTarget.value.trim())
      }}
    />
  )
}
