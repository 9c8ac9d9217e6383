// Runs the actions of selling for a pet: shows the result at once, says what was done, and offers to undo it.
import type { Entry, Order, Pet, Petstore } from '@petstore/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef } from 'react'
import { ConflictError } from '../layout/describe-error.ts'
import { useNotify } from '../layout/notify.tsx'
import { applyChange } from '../live/apply-events.ts'
import { useRefresh } from '../pets/queries.ts'
import { undoChange } from '../pets/undo.ts'
import { absolute, signOf } from '../money/amounts.ts'
import { amountText, priceText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import {
  complete,
  type Correction,
  correct,
  type Hold,
  hold,
  type Outcome,
  type Refund,
  release,
  type Sale,
  sell,
  setSold,
  settleDeposit,
  takeBack,
  undoEntry,
  undoHold,
  undoRelease,
  undoSale,
  undoSetSold,
} from './actions.ts'
import { clockText } from '../layout/hold-time.ts'

type Action = (store: Petstore) => Promise<Outcome>

interface Step {
  run: Action
  doneText: (outcome: Outcome) => string
  onDone?: ((outcome: Outcome) => void) | undefined
  undo?: ((outcome: Outcome) => Action) | undefined
  /** What is true after the undo. Default: the status of the pet. */
  undoneText?: string
  /** What the undo leaves as it is. */
  undoneNote?: string | undefined
}

/** @param onClose Closes the dialog that runs the action and shows its error. Without it, a message shows the error. */
export function useSelling(pet: Pet, onClose?: () => void) {
  const isOpen = useIsOpen()
  const store = useStore()
  const cache = useQueryClient()
  const refresh = useRefresh()
  const notify = useNotify()
  const scopes = useScopes()
  // The undo of a sale reads its entry.
  const canVoid = scopes.has('orders:read') && scopes.has('orders:write')

  async function apply(action: Action): Promise<Outcome> {
    const outcome = await action(store)
    applyChange(cache, { ...pet, status: outcome.status }, outcome.order)
    if (outcome.order === undefined) void refresh()
    keepFocus(pet.id)
    return outcome
  }

  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: ({ run }: Step) => apply(run),
    onSuccess: (outcome, step) => {
      const { doneText, undo } = step
      const run = undo && (() => runUndo(undo(outcome), step))
      notify.done(doneText(outcome), { petId: pet.id, undo: run })
      step.onDone?.(outcome)
      if (isOpen.current) onClose?.()
    },
    onError: (failure) => {
      // The page may have shown an earlier state.
      void refresh()
      if (onClose === undefined || !isOpen.current) notify.error(failure, pet.id)
    },
  })

  function runUndo(action: Action, { undoneText, undoneNote }: Step): Promise<string> {
    const undoing = undoChange(store, pet, async () => {
      const outcome = await apply(action)
      return [undoneText ?? againText(pet, outcome), undoneNote]
        .filter((text) => text !== undefined)
        .join(' ')
    })
    undoing.catch(() => void refresh())
    return undoing
  }

  return {
    isPending,
    isDone: isSuccess,
    /** Says, for example, who has the pet. */
    error: error ?? undefined,
    hold: (values: Hold) => mutate(holdStep(pet, values, canVoid)),
    /** Without an order, the pet must be available. */
    sell: (order: Order | undefined, sale: Sale, onDone?: Step['onDone']) =>
      mutate({ ...sellStep(pet, order, sale, canVoid), onDone }),
    setSold: () => mutate(setSoldStep(pet)),
    release: (order: Order | undefined) => mutate(releaseStep(pet, order)),
    correct: (sale: Order, correction: Correction) => mutate(correctStep(pet, sale, correction)),
    takeBack: (sale: Order, refund: Refund) => mutate(takeBackStep(pet, sale, refund)),
    settleDeposit: (held: Order, refund: Refund) => mutate(settleStep(pet, held, refund)),
    undoEntry: (entry: Entry) => mutate(undoEntryStep(pet, entry)),
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

function holdStep(pet: Pet, values: Hold, canVoid: boolean): Step {
  const canUndo = values.deposit === undefined || canVoid
  return {
    run: (store) => hold(store, pet, values),
    doneText: ({ order }) =>
      `${pet.name} is on hold until ${order && clockText(order.expiresAt, Date.now())}.`,
    undo: canUndo
      ? ({ order }) =>
          (store) =>
            undoHold(store, pet, order)
      : undefined,
  }
}

function sellStep(pet: Pet, order: Order | undefined, sale: Sale, canVoid: boolean): Step {
  return {
    run: (store) => (order === undefined ? sell(store, pet, sale) : complete(store, order, sale)),
    doneText: (outcome) => soldText(pet, outcome),
    undo: canVoid
      ? ({ order: sold }) =>
          (store) =>
            undoSale(store, pet, sold as Order, order)
      : undefined,
    undoneNote: depositNote(order),
  }
}

/** A new hold does not take over the deposit of the former one. */
function depositNote(order: Order | undefined): string | undefined {
  if (order?.deposit === undefined) return undefined
  return `The deposit of ${priceText({ ...order, price: order.deposit })} is on the page Holds, to settle.`
}

function correctStep(pet: Pet, sale: Order, correction: Correction): Step {
  return {
    run: (store) => correct(store, sale, correction),
    doneText: () => `The price of ${pet.name} is ${priceText(correction)} now.`,
    undo: undoOfEntry(pet),
    undoneText: `The price of ${pet.name} is as before.`,
  }
}

function takeBackStep(pet: Pet, sale: Order, refund: Refund): Step {
  const { amount, currency } = refund
  const refunded = signOf(amount) === 0 ? '' : `, and ${priceText({ price: amount, currency })} refunded`
  return {
    run: (store) => takeBack(store, sale, refund),
    doneText: () => `${pet.name} is taken back${refunded}.`,
    undo: undoOfEntry(pet),
  }
}

function settleStep(pet: Pet, held: Order, refund: Refund): Step {
  const amount = (text: string) => priceText({ price: text, currency: held.currency })
  return {
    run: (store) => settleDeposit(store, pet, held, refund),
    doneText: () =>
      signOf(refund.amount) === 0
        ? `The deposit of ${amount(held.deposit ?? '')} is kept.`
        : `${amount(refund.amount)} of the deposit is given back.`,
    undo: undoOfEntry(pet),
    undoneText: 'The deposit is held again.',
  }
}

function undoOfEntry(pet: Pet): Step['undo'] {
  return ({ entry }) =>
    async (store) => {
      if (entry === undefined) throw new ConflictError('Not undone', 'The entry is not known.')
      return undoEntry(store, pet, entry)
    }
}

function undoEntryStep(pet: Pet, entry: Entry): Step {
  const { paid, currency } = entry
  const amount = amountText({ currency, amount: absolute(paid) })
  const move = signOf(paid) < 0 ? `Take back ${amount}.` : `Give back ${amount}.`
  return {
    run: (store) => undoEntry(store, pet, entry),
    doneText: (outcome) => `Undone: ${againText(pet, outcome)}${signOf(paid) === 0 ? '' : ` ${move}`}`,
  }
}

function setSoldStep(pet: Pet): Step {
  return {
    run: (store) => setSold(store, pet),
    doneText: (outcome) => soldText(pet, outcome),
    undo: () => (store) => undoSetSold(store, pet),
  }
}

/** Such as "Bella is sold for €120.00." */
function soldText({ name }: Pet, { order }: Outcome): string {
  const price = order && priceText(order)
  return price === undefined ? `${name} is sold.` : `${name} is sold for ${price}.`
}

function releaseStep(pet: Pet, order: Order | undefined): Step {
  const note = depositNote(order)
  return {
    run: (store) => release(store, pet, order),
    doneText: () => [`${pet.name} is available again.`, note].filter((text) => text !== undefined).join(' '),
    undo: () => (store) => undoRelease(store, pet, order),
    undoneNote: note,
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
