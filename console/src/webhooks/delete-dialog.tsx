// Asks before a webhook is deleted.
import { Button, Stack, Text } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { useNavigate } from '@tanstack/react-router'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { nameOf } from './health.ts'
import { useDeleteWebhook } from './queries.ts'

interface Props {
  webhook: Webhook
  onClose: () => void
}

export function DeleteDialog({ webhook, onClose }: Props) {
  const { mutate, error, isPending } = useDeleteWebhook(webhook.id)
  const navigate = useNavigate()
  const notify = useNotify()
  const onSuccess = () => {
    notify.done(`Deleted the webhook ${nameOf(webhook)}.`)
    void navigate({ to: '/webhooks' })
  }
  return (
    <Dialog title={`Delete ${nameOf(webhook)}?`} onClose={onClose} isShort>
      <Stack>
        <Text size="sm">
          The program gets no further message. What waits, the secret and the list of deliveries are deleted.
          You cannot undo this. To stop the messages for a while, pause the webhook instead.
        </Text>
        {error && <ErrorMessage error={error} />}
        <DialogFoot>
          <Button variant="default" data-autofocus onClick={onClose}>
            Keep it
          </Button>
          <Button color="red.9" loading={isPending} onClick={() => mutate(undefined, { onSuccess })}>
            Delete
          </Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}
