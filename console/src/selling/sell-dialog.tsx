// The dialog that sells a pet: at which price, and to whom.
import { Button, Stack, Text } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { type FormEvent, useState } from 'react'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PriceField } from '../profile/price-field.tsx'
import { heldByText } from './conflict-text.ts'
import { NoteField } from './note-field.tsx'
import { TakenAlert } from './taken-alert.tsx'
import { usePrice } from './use-price.ts'
import { useSelling } from './use-selling.ts'
import { useTakenText } from './use-taken-text.ts'

interface Props {
  pet: Pet
  /** The open order of a pet on hold. */
  order: Order | undefined
  onClose: () => void
}

export function SellDialog({ pet, order, onClose }: Props) {
  const [note, setNote] = useState('')
  const price = usePrice(pet, order)
  const { sell, isPending, isDone, error } = useSelling(pet, onClose)
  const taken = useTakenText(pet)
  const isTaken = order === undefined && taken !== undefined && !isPending && !isDone

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (price.fault === undefined) sell(order, { note, ...price.given })
  }

  return (
    <Dialog title={`Sell ${pet.name} · No. ${pet.id}`} onClose={onClose} focusId={`pet-${pet.id}`} isShort>
      <form onSubmit={submit} noValidate>
        <Stack>
          {order ? (
            <Text size="sm" className="hold-note">
              {heldByText(order, Date.now())}
            </Text>
          ) : (
            <NoteField
              description="Optional. Who buys it?"
              placeholder="Ms Okafor, 030 5550147"
              value={note}
              onChange={setNote}
            />
          )}
          <PriceField {...price.field} />
          {isTaken && error === undefined && <TakenAlert pet={pet} taken={taken} />}
          {error !== undefined && <ErrorMessage error={error} />}
          <DialogFoot>
            <Button variant="default" onClick={onClose}>
              {isTaken ? 'Close' : 'Cancel'}
            </Button>
            <Button
              type="submit"
              loading={isPending}
              disabled={isTaken}
              data-autofocus={order !== undefined || undefined}
            >
              Sell
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Dialog>
  )
}
