// Shows the dialog for a hold or a sale, and loads it when it is used for the first time.
import { lazy, Suspense } from 'react'
import { closeSellingDialog, useSellingDialog } from './selling-dialog-state.ts'

const HoldDialog = lazy(() => import('./hold-dialog.tsx').then((file) => ({ default: file.HoldDialog })))
const SellDialog = lazy(() => import('./sell-dialog.tsx').then((file) => ({ default: file.SellDialog })))

export function SellingDialogHost() {
  const content = useSellingDialog()
  if (content === undefined) return null
  const { action, pet, order } = content
  return (
    <Suspense>
      {action === 'hold' && <HoldDialog key={pet.id} pet={pet} onClose={closeSellingDialog} />}
      {action === 'sell' && <SellDialog key={pet.id} pet={pet} order={order} onClose={closeSellingDialog} />}
    </Suspense>
  )
}
