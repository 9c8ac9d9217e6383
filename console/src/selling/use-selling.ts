// Runs the actions of selling for a pet: shows the result at once, says what was done, and offers to undo it.
import type { Order, Pet, Petstore } from '@petstore/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef } from 'react'
import { useNotify } from '../layout/notify.tsx'
import { applyChange } from '../live/apply-events.ts'
import { useRefresh } from '../pets/queries.ts'
import { undoChange } from '../pets/undo.ts'
import { priceText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import {
  complete,
  type Hold,
  hold,
  type Outcome,
  release,
  type Sale,
  sell,
  setSold,
  undoRelease,
  undoSale,
} from './actions.ts'
import { clockText } from '../layout/hold-time.ts'

type Action = (store: Petstore) => Promise<Outcome>

interface Step {
  run: Action
  doneText: (outcome: Outcome) => string
  undo?: ((outcome: Outcome) => Action) | undefined
  /** What the undo leaves as it is. */
  undoneNote?: string
}

/** @param onClose Closes the dialog that runs the action and shows its error. Without it, a message shows the error. */
export function useSelling(pet: Pet, onClose?: () => void) {
  const isOpen = useIsOpen()
  const store = useStore()
  const cache = useQueryClient()
  const refresh = useRefresh()
  const notify = useNotify()
  const canChangePets = useScopes().has('pets:write')

  async function apply(action: Action): Promise<Outcome> {
    const outcome = await action(store)
    applyChange(cache, { ...pet, status: outcome.status }, outcome.order)
    keepFocus(pet.id)
    return outcome
  }

  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: ({ run }: Step) => apply(run),
    onSuccess: (outcome, { doneText, undo, undoneNote }) => {
      const run = undo && (() => runUndo(undo(outcome), undoneNote))
      notify.done(doneText(outcome), { petId: pet.id, undo: run })
      if (isOpen.current) onClose?.()
    },
    onError: (failure) => {
      // The page may have shown an earlier state.
      void refresh()
      if (onClose === undefined || !isOpen.current) notify.error(failure, pet.id)
    },
  })

  function runUndo(action: Action, note: string | undefined): Promise<string> {
    const undoing = undoChange(store, pet, async () =>
      [againText(pet, await apply(action)), note].filter((text) => text !== undefined).join(' '),
    )
    undoing.catch(() => void refresh())
    return undoing
  }

  return {
    isPending,
    isDone: isSuccess,
    /** Says, for example, who has the pet. */
    error: error ?? undefined,
    hold: (values: Hold) => mutate(holdStep(pet, values)),
    /** Without an order, the pet must be available. With an order, the note stays that of the order. */
    sell: (order: Order | undefined, sale: Sale) => mutate(sellStep(pet, order, sale, canChangePets)),
    setSold: () => mutate(setSoldStep(pet)),
    release: (order: Order | undefined) => mutate(releaseStep(pet, order)),
  }
}

/** A person can close the dialog while a request is in flight, and open it for another pet. */
function useIsOpen(): RefObject<boolean> {
  const isOpen = useRef(false)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  return isOpen
}

function holdStep(pet: Pet, values: Hold): Step {
  return {
    run: (store) => hold(store, pet, values),
    doneText: ({ order }) =>
      `${pet.name} is on hold until ${order && clockText(order.expiresAt, Date.now())}.`,
    undo:
      ({ order }) =>
      (store) =>
        release(store, pet, order),
  }
}

function sellStep(pet: Pet, order: Order | undefined, sale: Sale, canUndo: boolean): Step {
  return {
    run: (store) => (order === undefined ? sell(store, pet, sale) : complete(store, order, sale)),
    doneText: (outcome) => soldText(pet, outcome),
    undo: canUndo
      ? () => (store) => undoSale(store, pet, order, order === undefined ? 'available' : 'pending')
      : undefined,
    undoneNote: 'The list of sales still shows this sale.',
  }
}

function setSoldStep(pet: Pet): Step {
  return {
    run: (store) => setSold(store, pet),
    doneText: (outcome) => soldText(pet, outcome),
    undo: () => (store) => undoSale(store, pet, undefined, 'pending'),
  }
}

/** Such as "Bella is sold for €120.00." */
function soldText({ name }: Pet, { order }: Outcome): string {
  const price = order && priceText(order)
  return price === undefined ? `${name} is sold.` : `${name} is sold for ${price}.`
}

function releaseStep(pet: Pet, order: Order | undefined): Step {
  return {
    run: (store) => release(store, pet, order),
    doneText: () => `${pet.name} is available again.`,
    undo: () => (store) => undoRelease(store, pet, order),
  }
}

/** The state after an undo. */
function againText({ name }: Pet, { status, order }: Outcome): string {
  if (status !== 'pending') return `${name} is ${status} again.`
  return order === undefined
    ? `${name} is on hold again.`
    : `${name} is on hold again until ${clockText(order.expiresAt, Date.now())}.`
}

/** The button that was pressed is replaced by others. Without this, the keyboard starts again at the top of the page. */
function keepFocus(petId: string): void {
  setTimeout(() => {
    const { activeElement } = document
    if (activeElement !== null && activeElement !== document.body) return
    document.getElementById(`pet-${petId}`)?.focus({ preventScroll: true })
  })
}
