// Changes what a webhook is for, where it sends, and which events.
import type { Webhook } from '@petstore/client'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import type { EventType } from './event-types.ts'
import { useUpdateWebhook } from './queries.ts'
import { WebhookForm } from './webhook-form.tsx'

interface Props {
  webhook: Webhook
  onClose: () => void
}

export function EditDialog({ webhook, onClose }: Props) {
  const { mutate, error, isPending } = useUpdateWebhook(webhook.id)
  const notify = useNotify()
  const onSuccess = () => {
    onClose()
    notify.done('Changed the webhook.')
  }
  return (
    <Dialog title="Edit the webhook" onClose={onClose} isWide isForm>
      <WebhookForm
        initialValues={{
          description: webhook.description ?? '',
          url: webhook.url,
          types: webhook.types as EventType[],
        }}
        submitLabel="Save"
        isPending={isPending}
        error={error}
        renderError={(failure) => <ErrorMessage error={failure} />}
        onSubmit={(values) => mutate(values, { onSuccess })}
        onCancel={onClose}
      />
    </Dialog>
  )
}
