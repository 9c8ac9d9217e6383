// Sells or releases a pet that is on hold.
import { Button, Group } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useScopes } from '../session/session.ts'
import { openSellingDialog } from './selling-dialog-state.ts'
import { useSelling } from './use-selling.ts'

interface Props {
  pet: Pet
  /** Undefined for a pet that is on hold without an order. */
  order: Order | undefined
  size?: string
}

export function EndHoldButtons({ pet, order, size = 'xs' }: Props) {
  const { setSold, release, isPending } = useSelling(pet)
  const scopes = useScopes()
  const isAllowed = scopes.has(order === undefined ? 'pets:write' : 'orders:write')
  if (!isAllowed) return null
  return (
    <Group gap="xs" wrap="nowrap" className="end-hold">
      <Button
        size={size}
        variant="subtle"
        aria-label={`Release ${pet.name}`}
        disabled={isPending}
        onClick={() => release(order)}
      >
        Release
      </Button>
      <Button
        size={size}
        variant="default"
        aria-label={`Sell ${pet.name}`}
        disabled={isPending}
        {...(order && { 'aria-haspopup': 'dialog' })}
        onClick={() => (order ? openSellingDialog({ action: 'sell', pet, order }) : setSold())}
      >
        Sell
      </Button>
    </Group>
  )
}
