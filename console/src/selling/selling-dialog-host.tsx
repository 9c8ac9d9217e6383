// Shows the dialog for a hold or a sale, and loads it when it is used for the first time.
import { lazy, Suspense } from 'react'
import { closeSellingDialog, useSellingDialog } from './selling-dialog-state.ts'

const HoldDialog = lazy(() => import('./hold-dialog.tsx').then((file) => ({ default: file.HoldDialog })))
const SellDialog = lazy(() => import('./sell-dialog.tsx').then((file) => ({ default: file.SellDialog })))
const CorrectDialog = lazy(() =>
  import('./correct-dialog.tsx').then((file) => ({ default: file.CorrectDialog })),
)
const TakeBackDialog = lazy(() =>
  import('./take-back-dialog.tsx').then((file) => ({ default: file.TakeBackDialog })),
)
const SettleDialog = lazy(() =>
  import('./settle-dialog.tsx').then((file) => ({ default: file.SettleDialog })),
)

export function SellingDialogHost() {
  const content = useSellingDialog()
  if (content === undefined) return null
  const { action, pet, order } = content
  const props = { pet, onClose: closeSellingDialog }
  return (
    <Suspense>
      {action === 'hold' && <HoldDialog key={pet.id} {...props} />}
      {action === 'sell' && <SellDialog key={pet.id} {...props} order={order} />}
      {action === 'correct' && order && <CorrectDialog key={pet.id} {...props} sale={order} />}
      {action === 'takeBack' && order && <TakeBackDialog key={pet.id} {...props} sale={order} />}
      {action === 'settle' && order && <SettleDialog key={pet.id} {...props} order={order} />}
    </Suspense>
  )
}
