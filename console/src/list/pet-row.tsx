// One pet in the list.
import { Text } from '@mantine/core'
import type { Pet, PetProfile } from '@petstore/client'
import { memo } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { dayOf } from '../layout/dates.ts'
import { useHasChanged } from '../live/live-feed.tsx'
import { type FactName, FACTS } from '../profile/facts.ts'
import { askedPrice, priceText } from '../profile/price.ts'
import { EndHoldButtons } from '../selling/end-hold-buttons.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { useOpenOrder } from '../selling/queries.ts'
import { TimeLeft } from '../selling/time-left.tsx'
import type { ColumnId } from './columns.ts'
import { FROM_LIST } from '../pets/last-list.ts'
import { StatusBadge } from '../pets/status-badge.tsx'

interface Props {
  pet: Pet
  category: string
  /** Undefined if the pet has none, or until it is read. */
  profile: PetProfile | undefined
  columns: ColumnId[]
  isSelected: boolean
  /** Whether the pet is one of many that the person has selected. Undefined if the key allows no action with many. */
  isChecked: boolean | undefined
  /** `isRange` is true with the Shift key. */
  onCheck: (pet: Pet, isRange: boolean) => void
}

export const PetRow = memo(({ pet, category, profile, columns, isSelected, isChecked, onCheck }: Props) => {
  const hasChanged = useHasChanged(pet.id)
  const { order, isLoading } = useOpenOrder(pet)
  const isHeld = pet.status === 'pending'
  return (
    <div
      className="list-row"
      data-status={pet.status}
      data-selected={isSelected || undefined}
      data-changed={hasChanged || undefined}
      data-selectable={isChecked === undefined ? undefined : true}
    >
      {isChecked !== undefined && (
        <label className="select">
          <input
            type="checkbox"
            aria-label={`Select ${pet.name}`}
            checked={isChecked}
            onChange={({ nativeEvent }) => onCheck(pet, (nativeEvent as MouseEvent).shiftKey)}
          />
        </label>
      )}
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
      <div className="facts">
        <Text size="sm" truncate>
          {category}
        </Text>
        {columns.map((column) => (
          <Text key={column} className="fact" data-column={column} size="sm" truncate>
            {column === 'price'
              ? priceText(askedPrice(order, profile))
              : profile && factText(column, profile)}
          </Text>
        ))}
      </div>
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

function factText(name: FactName, profile: PetProfile): string | undefined {
  const [value, { column }] = [profile[name], FACTS[name]]
  return value !== undefined && column?.text ? column.text(value, dayOf(Date.now())) : value
}
