// What to do with a pet of a list: the next step as a button, and the other one in a menu.
import { Button, Menu } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { MenuButton } from '../layout/menu-button.tsx'
import { useScopes } from '../session/session.ts'
import { openSellingDialog } from './selling-dialog-state.ts'
import { useSelling } from './use-selling.ts'

interface Props {
  pet: Pet
  /** Undefined for a pet that is available, or on hold without an order. */
  order: Order | undefined
}

export function RowActions({ pet, order }: Props) {
  const { setSold, release, isPending } = useSelling(pet)
  const isHeld = pet.status === 'pending'
  const isAllowed = useScopes().has(isHeld && order === undefined ? 'pets:write' : 'orders:write')
  if (!isAllowed) return null
  const hasDialog = !isHeld || order !== undefined
  const sell = () => (hasDialog ? openSellingDialog({ action: 'sell', pet, order }) : setSold())
  const hold = () => openSellingDialog({ action: 'hold', pet })
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        aria-label={`${isHeld ? 'Sell' : 'Hold'} ${pet.name}`}
        disabled={isPending}
        {...(hasDialog && { 'aria-haspopup': 'dialog' })}
        onClick={isHeld ? sell : hold}
      >
        {isHeld ? 'Sell' : 'Hold'}
      </Button>
      <MenuButton label={`More for ${pet.name}`}>
        {isHeld ? (
          <Menu.Item disabled={isPending} onClick={() => release(order)}>
            Release
          </Menu.Item>
        ) : (
          <Menu.Item aria-haspopup="dialog" onClick={sell}>
            Sell now
          </Menu.Item>
        )}
      </MenuButton>
    </>
  )
}
