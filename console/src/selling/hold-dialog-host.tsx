// Shows the dialog for a hold, and loads it when it is used for the first time.
import { lazy, Suspense } from 'react'
import { closeHoldDialog, useHoldDialogPet } from './hold-dialog-state.ts'

const HoldDialog = lazy(() => import('./hold-dialog.tsx').then((file) => ({ default: file.HoldDialog })))

export function HoldDialogHost() {
  const pet = useHoldDialogPet()
  return (
    <Suspense>
      {pet !== undefined && <HoldDialog key={pet.id} pet={pet} onClose={closeHoldDialog} />}
    </Suspense>
  )
}
