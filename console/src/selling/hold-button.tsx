// Opens the dialog that holds a pet for a customer.
import { Button, type ButtonProps } from '@mantine/core'
import type { Pet } from '@petstore/client'
import { useScopes } from '../session/session.ts'
import { openSellingDialog } from './selling-dialog-state.ts'

interface Props extends ButtonProps {
  pet: Pet
}

export function HoldButton({ pet, children = 'Hold', ...props }: Props) {
  if (!useScopes().has('orders:write')) return null
  return (
    <Button
      size="xs"
      variant="light"
      {...props}
      aria-label={`Hold ${pet.name}`}
      aria-haspopup="dialog"
      onClick={() => openSellingDialog({ action: 'hold', pet })}
    >
      {children}
    </Button>
  )
}
