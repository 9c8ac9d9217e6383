// Changes the status or the category of the selected pets, or deletes them.
import { Button, Select, Stack, Text } from '@mantine/core'
import { DialogFoot } from '../layout/dialog.tsx'
import type { Pet, PetStatus } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { CategoryField } from '../pets/category-field.tsx'
import { STATUSES } from '../pets/filters.ts'
import { categoriesQuery, categoryName } from '../pets/queries.ts'
import { statusText } from '../pets/status-tint.tsx'
import { useStore } from '../session/session.ts'
import { changeMany, deleteMany } from './change-many.ts'
import { FailedList, ManyDialog } from './many-dialog.tsx'
import { useMany } from './use-many.ts'

type Action = 'status' | 'category' | 'delete'

interface Props {
  action: Action
  pets: Pet[]
  onClose: () => void
}

export function ChangeDialog({ action, pets, onClose }: Props) {
  const [status, setStatus] = useState<PetStatus>('available')
  const [categoryId, setCategoryId] = useState('')
  const store = useStore()
  const { data: categories } = useQuery(categoriesQuery(store))
  const isDeletion = action === 'delete'
  const { mutate, data, error, isPending } = useMany({
    run: () => {
      if (isDeletion) return deleteMany(store, pets)
      return changeMany(store, pets, action === 'status' ? { status } : { categoryId })
    },
    doneText: ({ done }) => {
      if (isDeletion) return `Deleted ${counted(done.length, 'pet')}.`
      const category = `in ${categoryName(categories, categoryId)}`
      const state = action === 'status' ? statusText(status).toLowerCase() : category
      return `${counted(done.length, 'pet')} ${done.length === 1 ? 'is' : 'are'} ${state} now.`
    },
    onDone: onClose,
  })
  const count = counted(pets.length, 'pet')
  const title = isDeletion ? `Delete ${count}?` : `Change the ${action} of ${count}`

  function submit(event: FormEvent): void {
    event.preventDefault()
    mutate(undefined)
  }

  return (
    <ManyDialog title={title} onClose={onClose} isBusy={isPending} isShort>
      {data && (
        <FailedList what={isDeletion ? 'deleted' : 'changed'} failed={data.failed} onClose={onClose} />
      )}
      {!data && (
        <form onSubmit={submit} noValidate>
          <Stack>
            {action === 'status' && <StatusField status={status} onChange={setStatus} />}
            {action === 'category' && <CategoryField value={categoryId} onChange={setCategoryId} />}
            {isDeletion && <DeletionText />}
            <Names pets={pets} />
            {error !== null && <ErrorMessage error={error} />}
            <DialogFoot>
              <Button variant="default" data-autofocus={isDeletion || undefined} onClick={onClose}>
                {isDeletion ? 'Keep them' : 'Cancel'}
              </Button>
              <Button
                type="submit"
                loading={isPending}
                disabled={action === 'category' && categoryId === ''}
                {...(isDeletion && { color: 'red.9' })}
              >
                {isDeletion ? 'Delete' : 'Change'} {count}
              </Button>
            </DialogFoot>
          </Stack>
        </form>
      )}
    </ManyDialog>
  )
}

function DeletionText() {
  return (
    <Text size="sm">
      Delete pets only if they were added by mistake. Their history is deleted too. Undo adds them again, with
      new numbers. A pet that was ever held or sold stays in the books.
    </Text>
  )
}

function StatusField({ status, onChange }: { status: PetStatus; onChange: (status: PetStatus) => void }) {
  return (
    <Select
      label="Status"
      description={
        status === 'sold' ? 'Without an order and a price. To record sales, choose Sell instead.' : undefined
      }
      data-autofocus
      data={STATUSES.map((value) => ({ value, label: statusText(value) }))}
      allowDeselect={false}
      value={status}
      onChange={(value) => value !== null && onChange(value)}
    />
  )
}

/** Which pets the change is about. */
function Names({ pets }: { pets: Pet[] }) {
  return (
    <Text size="sm" className="pet-names" tabIndex={0} aria-label="Pets" role="group">
      {pets.map(({ name }) => name).join(', ')}
    </Text>
  )
}
