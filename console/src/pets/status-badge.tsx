// The status of a pet, as a colour and a word.
import type { PetStatus } from '@petstore/client'

const TEXTS: Record<PetStatus, string> = { available: 'Available', pending: 'On hold', sold: 'Sold' }

export function StatusBadge({ status }: { status: PetStatus }) {
  return (
    <span className="status-badge" data-status={status}>
      {TEXTS[status]}
    </span>
  )
}

export function statusText(status: PetStatus): string {
  return TEXTS[status]
}
