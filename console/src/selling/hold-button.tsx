import { Button } from '@mantine/core'
import type { Pet } from '@petstore/client'

export function HoldButton({ pet }: { pet: Pet }) {
  return (
    <Button size="xs" variant="light" aria-label={`Hold ${pet.name}`}>
      Hold
    </Button>
  )
}
