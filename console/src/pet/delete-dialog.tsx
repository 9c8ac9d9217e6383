// Deletes a pet that was added by mistake.
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { VersionedPet } from '@petstore/client'
import { useNavigate } from '@tanstack/react-router'
import { hasCode } from '../layout/describe-error.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { lastFilters } from '../pets/last-list.ts'
import { useDeletePet } from '../pets/queries.ts'

interface Props {
  pet: VersionedPet
  onClose: () => void
}

export function DeleteDialog({ pet, onClose }: Props) {
  const navigate = useNavigate()
  const notify = useNotify()
  const { mutate, error, isPending } = useDeletePet()
  const hasOrders = hasCode(error, 'pet_has_orders')

  function remove(): void {
    mutate(pet.id, {
      onSuccess: () => {
        notify.done(`Deleted ${pet.name}.`, { petId: pet.id })
        void navigate({ to: '/', search: lastFilters() })
      },
    })
  }

  return (
    <Dialog title={`Delete ${pet.name}?`} onClose={onClose} isShort>
      <Stack>
        <Text size="sm">
          Delete a pet only if it was added by mistake. Its history is deleted too, and this cannot be undone.
          A pet that was sold stays in the list as sold.
        </Text>
        {hasOrders && (
          <Alert color="yellow" role="alert" title="This pet cannot be deleted">
            It was held or sold before, and the shop keeps a record of every sale. To take it off the shelf,
            choose Edit and set its status to Sold.
          </Alert>
        )}
        {error !== null && !hasOrders && <ErrorMessage error={error} />}
        <DialogFoot>
          <Button variant="default" data-autofocus onClick={onClose}>
            {hasOrders ? 'Close' : 'Keep it'}
          </Button>
          {!hasOrders && (
            <Button color="red.9" loading={isPending} onClick={remove}>
              Delete
            </Button>
          )}
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}
