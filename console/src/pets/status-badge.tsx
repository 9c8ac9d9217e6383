// The status of a pet, as a colour and a word.
import { Badge } from '@mantine/core'
import type { PetStatus } from '@petstore/client'

const LOOKS: Record<PetStatus, { color: string; text: string }> = {
  available: { color: 'green.9', text: 'Available' },
  pending: { color: 'orange.9', text: 'On hold' },
  sold: { color: 'gray.7', text: 'Sold' },
}

export function StatusBadge({ status }: { status: PetStatus }) {
  const { color, text } = LOOKS[status]
  return (
    <Badge color={color} variant="filled" tt="none" fw={600}>
      {text}
    </Badge>
  )
}

export function statusText(status: PetStatus): string {
  return LOOKS[status].text
}
