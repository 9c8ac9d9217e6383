// The form for a new pet, and for changes to a pet. It shows the faults that the service reports at their fields.
import { Button, Group, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type PetStatus, PetstoreError, type VersionedPet } from '@petstore/client'
import { useState } from 'react'
import { hasCode } from '../layout/describe-error.ts'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useStore } from '../session/session.ts'
import { CategoryField } from './category-field.tsx'
import { STATUSES } from './filters.ts'
import { useCreatePet, useRefresh, useUpdatePet } from './queries.ts'
import { statusText } from './status-badge.tsx'
import { undoChange, UNDO_REASON } from './undo.ts'

interface Props {
  /** The pet to change. Without it, the form adds a pet. */
  pet?: VersionedPet
  onClose: () => void
}

interface Values {
  name: string
  categoryId: string
  status: PetStatus
  reason: string
}

const FIELDS: string[] = ['name', 'categoryId', 'status', 'reason'] satisfies (keyof Values)[]

export function PetForm({ pet: shown, onClose }: Props) {
  // The page reads the pet again when another person changes it. The form keeps the version whose values it shows.
  const [pet, setPet] = useState(shown)
  const store = useStore()
  const notify = useNotify()
  const form = useForm<Values>({
    initialValues: {
      name: pet?.name ?? '',
      categoryId: pet?.categoryId ?? '',
      status: pet?.status ?? 'available',
      reason: '',
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      categoryId: (id) => (id === '' ? 'Choose a category.' : null),
    },
  })
  const { save, error, isPending, reset } = useSave(pet, onClose)
  const isOutdated = hasCode(error, 'precondition_failed')
  const hasOtherFaults =
    error !== null && !(error instanceof PetstoreError && error.details.some(isFieldFault))

  function submit(values: Values): void {
    save(values, (failure) => {
      if (!(failure instanceof PetstoreError)) return
      for (const { field, message } of failure.details.filter(isFieldFault))
        form.setFieldError(field, message)
    })
  }

  async function showNewValues(): Promise<void> {
    const current = shown && (await store.pets.find(shown.id))
    if (current === undefined) return onClose()
    setPet(current)
    form.setValues({ name: current.name, categoryId: current.categoryId, status: current.status })
    reset()
  }

  return (
    <Dialog title={pet ? `Edit ${pet.name}` : 'Add a pet'} onClose={onClose}>
      <form onSubmit={form.onSubmit(submit)} noValidate>
        <Stack>
          <TextInput
            label="Name"
            withAsterisk
            data-autofocus
            maxLength={500}
            {...form.getInputProps('name')}
          />
          <CategoryField {...form.getInputProps('categoryId')} />
          <Select
            label="Status"
            data={STATUSES.map((value) => ({ value, label: statusText(value) }))}
            allowDeselect={false}
            {...form.getInputProps('status')}
          />
          {pet && (
            <Textarea
              label="Reason"
              description="Optional. It appears in the history of the pet."
              maxLength={500}
              {...form.getInputProps('reason')}
            />
          )}
          {hasOtherFaults && <ErrorMessage error={error} />}
          {isOutdated && (
            <Button variant="default" onClick={() => void showNewValues().catch(notify.error)}>
              Show the new values
            </Button>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending}>
              {pet ? 'Save' : 'Add'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Saves the values, then offers to undo the change. */
function useSave(pet: VersionedPet | undefined, onSaved: () => void) {
  const store = useStore()
  const create = useCreatePet()
  const update = useUpdatePet()
  const refresh = useRefresh()
  const notify = useNotify()

  function offerUndo(text: string, saved: VersionedPet, undo: () => Promise<string>): void {
    const run = () => undoChange(store, saved, undo).finally(() => void refresh())
    notify.done(text, { petId: saved.id, undo: run })
  }

  function save({ reason, ...values }: Values, onError: (error: Error) => void): void {
    if (pet === undefined) {
      create.mutate(values, {
        onError,
        onSuccess: (added) => {
          onSaved()
          offerUndo(`Added ${added.name}.`, added, async () => {
            await store.pets.delete(added.id, { ifMatch: added.etag })
            return `${added.name} is removed.`
          })
        },
      })
      return
    }
    const { id, etag } = pet
    const before = { name: pet.name, categoryId: pet.categoryId, status: pet.status }
    const change = { ...values, ...(reason.trim() !== '' && { reason }) }
    const onSuccess = (saved: VersionedPet) => {
      onSaved()
      offerUndo(`Saved ${saved.name}.`, saved, async () => {
        await store.pets.update(id, { ...before, reason: UNDO_REASON }, { ifMatch: saved.etag })
        return `${before.name} is as it was before.`
      })
    }
    update.mutate({ id, change, etag }, { onError, onSuccess })
  }

  const { error, isPending, reset } = pet ? update : create
  return { save, error, isPending, reset }
}

function isFieldFault({ field }: { field: string }): boolean {
  return FIELDS.includes(field)
}
