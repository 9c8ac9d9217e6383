// Forgets what a session leaves behind outside of its cache and of the pages that React removes, so that the next person
// sees nothing of it. Runs at every change of the session, in whatever way it ended.
import { closeMessages } from '../layout/notify.tsx'
import { rememberFilters } from '../pets/last-list.ts'
import { clearSelection } from '../selected-pets/selection-state.ts'
import { closeSellingDialog } from '../selling/selling-dialog-state.ts'
import { onSessionChange } from '../session/session.ts'

export function forgetFormerSessions(): void {
  onSessionChange(() => {
    closeMessages()
    closeSellingDialog()
    clearSelection()
    rememberFilters({})
  })
}
