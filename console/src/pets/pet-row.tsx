// One pet in the list.
import { Text } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { memo } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { useHasChanged } from '../live/live-feed.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { StatusBadge } from './status-badge.tsx'

interface Props {
  pet: Pet
  category: string
  isSelected: boolean
}

export const PetRow = memo(({ pet, category, isSelected }: Props) => {
  const hasChanged = useHasChanged(pet.id)
  return (
    <div className="list-row" data-selected={isSelected || undefined} data-changed={hasChanged || undefined}>
      <div className="name">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId: pet.id }}
          fw={600}
          underline="hover"
          display="block"
          truncate
          title={pet.name}
        >
          {pet.name}
        </AnchorLink>
        <Text size="xs" c="dimmed">
          No. {pet.id}
        </Text>
      </div>
      <Text className="category" size="sm" truncate>
        {category}
      </Text>
      <div className="status">
        <StatusBadge status={pet.status} />
      </div>
      <div className="action">{pet.status === 'available' && <HoldButton pet={pet} />}</div>
    </div>
  )
})
