// What the dialogs for a hold and for a sale have in common: they close after the action, or say why it failed.
import type { Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useNotify } from '../layout/notify.tsx'
import { petQuery } from '../pets/queries.ts'
import { useStore } from '../session/session.ts'
import { conflictText } from './conflict-text.ts'
import { useOpenOrder } from './queries.ts'

interface DialogAction {
  run: (action: () => Promise<unknown>) => Promise<void>
  isDone: boolean
  error: Error | undefined
}

export function useDialogAction(pet: Pet, onClose: () => void): DialogAction {
  const [isDone, setDone] = useState(false)
  const [error, setError] = useState<Error>()
  const notify = useNotify()
  const isOpen = useIsOpen()

  async function run(action: () => Promise<unknown>): Promise<void> {
    setError(undefined)
    try {
      await action()
      setDone(true)
      if (isOpen.current) onClose()
    } catch (failure) {
      if (isOpen.current) setError(failure as Error)
      else notify.error(failure as Error, pet.id)
    }
  }

  return { run, isDone, error }
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

/** Who has taken an available pet while the dialog is open. */
export function useTakenText(pet: Pet): string | undefined {
  const { data: current } = useQuery(petQuery(useStore(), pet.id))
  const { order } = useOpenOrder(current ?? pet)
  if (current === undefined || current?.status === 'available') return undefined
  return conflictText(current?.status, order, Date.now())
}
