// One pet in the list.
import { Text } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { memo } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { useHasChanged } from '../live/live-feed.tsx'
import { EndHoldButtons } from '../selling/end-hold-buttons.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { useOpenOrder } from '../selling/queries.ts'
import { TimeLeft } from '../selling/time-left.tsx'
import { FROM_LIST } from './last-list.ts'
import { StatusBadge } from './status-badge.tsx'

interface Props {
  pet: Pet
  category: string
  isSelected: boolean
}

export const PetRow = memo(({ pet, category, isSelected }: Props) => {
  const hasChanged = useHasChanged(pet.id)
  const { order, isLoading } = useOpenOrder(pet)
  const isHeld = pet.status === 'pending'
  return (
    <div
      className="list-row"
      data-status={pet.status}
      data-selected={isSelected || undefined}
      data-changed={hasChanged || undefined}
    >
      <div className="name">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId: pet.id }}
          state={FROM_LIST}
          id={`pet-${pet.id}`}
          fw={600}
          underline="hover"
          display="block"
          truncate
          title={pet.name}
        >
          {pet.name}
        </AnchorLink>
        <Text size="xs" c="dimmed" truncate title={order?.note}>
          No. {pet.id}
          {order?.note !== undefined && ` · ${order.note}`}
        </Text>
      </div>
      <Text className="category" size="sm" truncate>
        {category}
      </Text>
      <div className="status">
        <StatusBadge status={pet.status} />
        {order && <TimeLeft expiresAt={order.expiresAt} />}
      </div>
      <div className="action">
        {pet.status === 'available' && <HoldButton pet={pet} />}
        {isHeld && !isLoading && <EndHoldButtons pet={pet} order={order} />}
      </div>
    </div>
  )
})
