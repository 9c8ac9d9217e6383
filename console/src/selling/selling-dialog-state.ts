// Which pet the dialog for a hold, a sale or its correction is open for. The dialog is not part of a row of a list: if another person takes
// the pet, the row may leave the list, and the dialog must stay and say so.
import type { Order, Pet } from '@petstore/client'
import { useSyncExternalStore } from 'react'

export interface SellingDialogContent {
  action: 'hold' | 'sell' | 'correct' | 'takeBack' | 'settle'
  pet: Pet
  /** The open order of a pet on hold, the sale of a sold pet, or the order that holds a deposit. */
  order?: Order | undefined
}

let current: SellingDialogContent | undefined
const listeners = new Set<() => void>()

export function openSellingDialog(content: SellingDialogContent): void {
  change(content)
}

export function closeSellingDialog(): void {
  change(undefined)
}

export function useSellingDialog(): SellingDialogContent | undefined {
  return useSyncExternalStore(subscribe, () => current)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function change(content: SellingDialogContent | undefined): void {
  current = content
  for (const listener of listeners) listener()
}
