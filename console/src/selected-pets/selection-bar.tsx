// The bar below the list while pets are selected: how many, and what to do with them.
import './selected-pets.css'
import { Box, Button, Group, Text } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { useHotkeys } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState } from 'react'
import { CARDS_MAX } from '../cards/ids.ts'
import { ButtonLink } from '../layout/button-link.tsx'
import type { PetSearch } from '../pets/filters.ts'
import { petListQuery } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { clearSelection, selectPets, useSelectedPets } from './selection-state.ts'

const ChangeDialog = lazy(() =>
  import('./change-dialog.tsx').then((file) => ({ default: file.ChangeDialog })),
)
const SellDialog = lazy(() => import('./sell-dialog.tsx').then((file) => ({ default: file.SellDialog })))

type Action = 'sell' | 'status' | 'category' | 'delete'

const ACTIONS: { action: Action; label: string; onPhone: string; scope: string }[] = [
  { action: 'sell', label: 'Sell', onPhone: 'Sell', scope: 'orders:write' },
  { action: 'status', label: 'Change status', onPhone: 'Status', scope: 'pets:write' },
  { action: 'category', label: 'Change category', onPhone: 'Category', scope: 'pets:write' },
  { action: 'delete', label: 'Delete', onPhone: 'Delete', scope: 'pets:write' },
]

/** Whether the key allows an action with many pets. */
export function useCanSelect(): boolean {
  const scopes = useScopes()
  return ACTIONS.some(({ scope }) => scopes.has(scope))
}

export function SelectionBar({ filters }: { filters: PetSearch }) {
  const selected = useSelectedPets()
  // The dialog stays open while the pets that are done leave the selection.
  const [dialog, setDialog] = useState<{ action: Action; pets: Pet[] }>()
  const scopes = useScopes()
  const allowed = ACTIONS.filter(({ scope }) => scopes.has(scope))
  const close = () => setDialog(undefined)
  const actions = useActionKey()
  return (
    <>
      {selected.size > 0 && (
        <section className="selection-bar" aria-label="Selected pets" aria-keyshortcuts="a">
          <Text fw={600} role="status">
            {selected.size} selected
          </Text>
          <Group gap={4} wrap="nowrap">
            <SelectAllButton filters={filters} />
            <Button variant="subtle" size="sm" onClick={clearSelection}>
              Clear
            </Button>
          </Group>
          <Group gap={4} wrap="nowrap" ref={actions}>
            <ButtonLink
              to="/cards"
              search={{ ids: [...selected.keys()].slice(0, CARDS_MAX) }}
              size="sm"
              variant="subtle"
            >
              <Label text="Cage cards" onPhone="Cards" />
            </ButtonLink>
            {allowed.map(({ action, label, onPhone }) => (
              <Button
                key={action}
                size="sm"
                variant={action === 'sell' ? 'filled' : 'subtle'}
                aria-haspopup="dialog"
                onClick={() => setDialog({ action, pets: [...selected.values()] })}
              >
                <Label text={label} onPhone={onPhone} />
              </Button>
            ))}
          </Group>
        </section>
      )}
      <Suspense>
        {dialog?.action === 'sell' && <SellDialog pets={dialog.pets} onClose={close} />}
        {dialog !== undefined && dialog.action !== 'sell' && (
          <ChangeDialog action={dialog.action} pets={dialog.pets} onClose={close} />
        )}
      </Suspense>
    </>
  )
}

/** The key `a` moves the focus to the first action: the list above loads more pets before Tab reaches its end. */
function useActionKey() {
  const actions = useRef<HTMLDivElement>(null)
  const focus = ({ target }: KeyboardEvent) => {
    const isTyping = target instanceof HTMLInputElement && target.type !== 'checkbox'
    if (!isTyping) actions.current?.querySelector('button')?.focus()
  }
  useHotkeys([['a', focus, { preventDefault: false }]], ['TEXTAREA', 'SELECT'])
  return actions
}

/** Selects the pets that the list has loaded. */
function SelectAllButton({ filters }: { filters: PetSearch }) {
  const cache = useQueryClient()
  const { queryKey } = petListQuery(useStore(), filters)
  const select = () => selectPets(cache.getQueryData(queryKey)?.pages.flatMap(({ items }) => items) ?? [])
  return (
    <Button variant="subtle" size="sm" onClick={select}>
      <Label text="Select all loaded" onPhone="All loaded" />
    </Button>
  )
}

/** All buttons fit into two lines of a phone, and into one of a tablet. */
function Label({ text, onPhone }: { text: string; onPhone: string }) {
  return (
    <>
      <Box component="span" visibleFrom="md">
        {text}
      </Box>
      <Box component="span" hiddenFrom="md">
        {onPhone}
      </Box>
    </>
  )
}
