// Says in a dialog that another person has taken the pet meanwhile.
import { Alert } from '@mantine/core'
import type { Pet } from '@petstore/client'

export function TakenAlert({ pet, taken }: { pet: Pet; taken: string | undefined }) {
  return (
    <Alert color="yellow" role="alert" title={`${pet.name} is not available any more`}>
      {taken}
    </Alert>
  )
}
