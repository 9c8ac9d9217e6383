// The list of pets with its filters, and the form for a new pet.
import { Button, CloseButton, Group, Select, Stack, TextInput, Title } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ButtonLink } from '../layout/button-link.tsx'
import { ColumnsIcon, DownloadIcon, PlusIcon, SearchIcon, UploadIcon } from '../layout/icons.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { SelectionBar } from '../selected-pets/selection-bar.tsx'
import { useScopes } from '../session/session.ts'
import { CategorySelect } from '../pets/category-select.tsx'
import { listFilters, type PetSearch, sortOf } from '../pets/filters.ts'
import { rememberFilters } from '../pets/last-list.ts'
import { PetList } from './pet-list.tsx'
import { StatusFilter } from '../pets/status-filter.tsx'

const PetForm = lazy(() => import('../pet/pet-form.tsx').then((file) => ({ default: file.PetForm })))
const ColumnsDialog = lazy(() =>
  import('./columns-dialog.tsx').then((file) => ({ default: file.ColumnsDialog })),
)
const ExportDialog = lazy(() =>
  import('../export/export-dialog.tsx').then((file) => ({ default: file.ExportDialog })),
)

const SEARCH_AFTER_MS = 200
const NEWEST = 'newest'

export function PetsPage() {
  const search = useSearch({ from: '/' })
  const navigate = useNavigate({ from: '/' })
  usePageTitle('Pets')
  useEffect(() => rememberFilters(search), [search])
  const canWrite = useScopes().has('pets:write')
  const isNewestFirst = search.q !== undefined || search.category !== undefined
  const change = (part: Partial<PetSearch>) =>
    void navigate({ search: (current) => ({ ...current, ...part }), replace: true, resetScroll: true })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Pets
        </Title>
        {/* All buttons fit into one line of a tablet. */}
        <Group gap={6}>
          <ColumnsButton />
          <ExportButton search={search} />
          {canWrite && (
            <ButtonLink to="/import" variant="default" leftSection={<UploadIcon size={16} />}>
              Import
            </ButtonLink>
          )}
          {canWrite && (
            <Button leftSection={<PlusIcon />} onClick={() => change({ add: true })}>
              Add a pet
            </Button>
          )}
        </Group>
      </Group>
      <div className="filters">
        <SearchField value={search.q ?? ''} onChange={(q) => change({ q: q === '' ? undefined : q })} />
        <StatusFilter filters={search} onChange={(status) => change({ status })} />
        <CategorySelect
          aria-label="Category"
          placeholder="All categories"
          clearable
          value={search.category ?? null}
          onChange={(category) => change({ category: category ?? undefined })}
        />
        <Select
          aria-label="Sort by"
          className="sort"
          data={[
            { value: NEWEST, label: 'Newest first' },
            { value: 'name', label: 'By name' },
          ]}
          allowDeselect={false}
          disabled={isNewestFirst}
          {...(isNewestFirst && { title: 'With a search or a category, the newest pet is always first.' })}
          value={sortOf(search) ?? NEWEST}
          onChange={(sort) => change({ sort: sort === 'name' ? sort : undefined })}
        />
      </div>
      <PetList
        filters={search}
        onReset={() => change({ q: undefined, status: undefined, category: undefined })}
      />
      <SelectionBar filters={search} />
      <Suspense>
        {canWrite && search.add === true && <PetForm onClose={() => change({ add: undefined })} />}
      </Suspense>
    </Stack>
  )
}

function ColumnsButton() {
  const [isOpen, dialog] = useDisclosure()
  return (
    <>
      <Button
        variant="default"
        leftSection={<ColumnsIcon size={16} />}
        aria-haspopup="dialog"
        onClick={dialog.open}
      >
        Columns
      </Button>
      <Suspense>{isOpen && <ColumnsDialog onClose={dialog.close} />}</Suspense>
    </>
  )
}

function ExportButton({ search }: { search: PetSearch }) {
  const [isOpen, dialog] = useDisclosure()
  const { id, chipNumber } = listFilters(search)
  return (
    <>
      <Button
        variant="default"
        leftSection={<DownloadIcon size={16} />}
        aria-haspopup="dialog"
        // A search by number shows one pet, or few.
        disabled={id !== undefined || chipNumber !== undefined}
        onClick={dialog.open}
      >
        Export
      </Button>
      <Suspense>{isOpen && <ExportDialog search={search} onClose={dialog.close} />}</Suspense>
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
      rightSection={text !== '' && <CloseButton aria-label="Clear the search" onClick={clear} />}
      rightSectionPointerEvents="all"
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        search(currentTarget.value.trim())
      }}
    />
  )
}
