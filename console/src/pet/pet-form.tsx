// The form for a new pet, and for changes to a pet, its price and its facts. It shows the faults that the service reports at
// their fields.
import './pet-form.css'
import { Button, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type Petstore, PetstoreError, type VersionedPet } from '@petstore/client'
import { NEW_PET, PET_CHANGE } from '@petstore/client/rules'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { hasCode } from '../layout/describe-error.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useNotify } from '../layout/notify.tsx'
import { shopCurrency } from '../shop/shop.ts'
import { ProfileFields } from '../profile/profile-fields.tsx'
import {
  isOtherCurrency,
  priceFault,
  PROFILE_FIELDS,
  profileOf,
  type ProfileValues,
  profileValues,
  valuesOfNext,
} from '../profile/profile-values.ts'
import { profileQuery } from '../profile/queries.ts'
import { saleQuery } from '../selling/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { CategoryField } from '../pets/category-field.tsx'
import { STATUSES } from '../pets/filters.ts'
import { useRefresh } from '../pets/queries.ts'
import { type Known, type PetValues, savePet, undoSave } from './save-pet.ts'
import { statusText } from '../pets/status-tint.tsx'
import { undoChange } from '../pets/undo.ts'

interface Values extends PetValues, ProfileValues {
  reason: string
}

interface Submitted {
  values: Values
  /** False if the form stays open for the next pet. */
  isLast: boolean
}

const FIELDS = new Set<string>(['name', 'categoryId', 'status', 'reason', ...PROFILE_FIELDS])
const NAME_ID = 'pet-form-name'

interface Props {
  /** The pet to change. Without it, the form adds a pet. */
  pet?: VersionedPet
  onClose: () => void
}

export function PetForm({ pet, onClose }: Props) {
  const store = useStore()
  const { data, error, refetch } = useQuery({
    ...profileQuery(store, pet?.id ?? ''),
    enabled: pet !== undefined,
  })
  const isReady = pet === undefined || data !== undefined
  return (
    <Dialog title={pet ? `Edit ${pet.name}` : 'Add a pet'} onClose={onClose} isWidest isForm>
      {isReady && <Form shown={{ pet, profile: data }} onClose={onClose} />}
      {!isReady && error === null && <Loading what="the pet" height={360} />}
      {!isReady && error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
    </Dialog>
  )
}

function Form({ shown, onClose }: { shown: Known; onClose: () => void }) {
  // The page reads the pet again when another person changes it. The form keeps the versions whose values it shows.
  const [known, setKnown] = useState(shown)
  const [added, setAdded] = useState<string>()
  const store = useStore()
  const notify = useNotify()
  const form = useForm<Values>({
    initialValues: valuesOf(known),
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      categoryId: (id) => (id === '' ? 'Choose a category.' : null),
      price: (price, { currency }) =>
        isOtherCurrency(currency, shopCurrency().code) ? null : (priceFault(price, shopCurrency()) ?? null),
    },
  })
  const hasSale = useHasSale(known.pet)
  const { mutate, error, isPending, reset } = useSave(known, setKnown)
  const isOutdated = hasCode(error, 'precondition_failed')
  const hasOtherFaults =
    error !== null && !(error instanceof PetstoreError && error.details.some(isFieldFault))

  const submit = (isLast: boolean) =>
    form.onSubmit((values) =>
      mutate(
        { values, isLast },
        {
          onSuccess: () => (isLast ? onClose() : startNext(values)),
          onError: (failure) => {
            if (!(failure instanceof PetstoreError)) return
            for (const { field, message } of failure.details.filter(isFieldFault))
              form.setFieldError(field, message)
          },
        },
      ),
    )

  /** Keeps what the pets of a litter have in common. */
  function startNext(values: Values): void {
    setAdded(values.name)
    setKnown({ pet: undefined, profile: undefined })
    form.setValues({ ...values, ...valuesOfNext(values), name: '' })
    document.getElementById(NAME_ID)?.focus()
  }

  async function showNewValues(): Promise<void> {
    const current = await readKnown(store, known)
    if (current === undefined) return onClose()
    setKnown(current)
    form.setValues(valuesOf(current))
    reset()
  }

  return (
    <form onSubmit={submit(true)} noValidate>
      <Stack>
        {/* A message at the bottom of the page would cover the buttons on a phone. */}
        <Text size="sm" role="status" hidden={added === undefined}>
          Added {added}. Enter the next pet.
        </Text>
        <div className="form-columns">
          <TextInput
            id={NAME_ID}
            className="wide-on-phone"
            label="Name"
            withAsterisk
            data-autofocus
            maxLength={NEW_PET.name.maxLength}
            {...form.getInputProps('name')}
          />
          <CategoryField {...form.getInputProps('categoryId')} />
          {!hasSale && (
            <Select
              label="Status"
              data={STATUSES.map((value) => ({ value, label: statusText(value) }))}
              allowDeselect={false}
              {...form.getInputProps('status')}
            />
          )}
          <ProfileFields
            petId={known.pet?.id}
            hasPrice={known.pet?.status !== 'sold'}
            propsOf={form.getInputProps}
          />
          {shown.pet && (
            <Textarea
              className="whole-row"
              label="Reason"
              description="Optional. It appears in the history of the pet."
              maxLength={PET_CHANGE.reason.maxLength}
              {...form.getInputProps('reason')}
            />
          )}
        </div>
        {hasOtherFaults && <ErrorMessage error={error} />}
        {isOutdated && (
          <Button variant="default" onClick={() => void showNewValues().catch(notify.error)}>
            Show the new values
          </Button>
        )}
        <DialogFoot>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          {!shown.pet && (
            <Button variant="default" disabled={isPending} onClick={() => submit(false)()}>
              Add and next
            </Button>
          )}
          <Button type="submit" loading={isPending}>
            {shown.pet ? 'Save' : 'Add'}
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  )
}

function valuesOf({ pet, profile }: Known): Values {
  const { name = '', categoryId = '', status = 'available' } = pet ?? {}
  return { name, categoryId, status, ...profileValues(profile), reason: '' }
}

/** The status of a pet that was sold changes only with its sale: with Correct price and Take back. */
function useHasSale(pet: VersionedPet | undefined): boolean {
  const isSold = pet?.status === 'sold'
  const isWanted = useScopes().has('orders:read') && isSold
  const { data: sale } = useQuery({ ...saleQuery(useStore(), pet?.id ?? ''), enabled: isWanted })
  return isSold && sale !== null && isWanted
}

/** Undefined if the pet does not exist any more. */
async function readKnown(store: Petstore, { pet }: Known): Promise<Known | undefined> {
  const current = pet && (await store.pets.find(pet.id))
  return current && { pet: current, profile: await store.pets.profile(current.id) }
}

/** Saves the values, then offers to undo the change. */
function useSave(known: Known, setKnown: (known: Known) => void) {
  const store = useStore()
  const refresh = useRefresh()
  const notify = useNotify()
  return useMutation({
    mutationFn: async ({ values }: Submitted) => {
      const { name, categoryId, status, reason, ...profile } = values
      const wanted = {
        values: { name, categoryId, status },
        reason,
        profile: profileOf(profile, shopCurrency()),
      }
      const onPet = (pet: VersionedPet) => setKnown({ pet, profile: known.profile })
      return { before: known, after: await savePet(store, known, wanted, onPet) }
    },
    onSuccess: ({ before: { pet: before, profile }, after }, { isLast }) => {
      if (!isLast) return
      const { id, name, etag } = after.pet
      const undo = async () => {
        if (before === undefined) {
          await store.pets.delete(id, { ifMatch: etag })
          return `${name} is removed.`
        }
        await undoSave(store, { pet: before, profile }, after)
        return `${before.name} is as it was before.`
      }
      const run = () => undoChange(store, after.pet, undo).finally(() => void refresh())
      notify.done(`${before === undefined ? 'Added' : 'Saved'} ${name}.`, { petId: id, undo: run })
    },
    onSettled: () => void refresh(),
  })
}

function isFieldFault({ field }: { field: string }): boolean {
  return FIELDS.has(field)
}
