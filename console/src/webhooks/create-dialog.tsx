// Creates a webhook, and shows its secret once.
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { SecretError } from '../layout/secret-error.tsx'
import { useScopes } from '../session/session.ts'
import { ALL_TYPES, isOfOrder } from './event-types.ts'
import { nameOf } from './health.ts'
import { useCreateWebhook } from './queries.ts'
import { WebhookForm } from './webhook-form.tsx'

/** `createdId` is undefined if no webhook was created. */
export function CreateDialog({ onClose }: { onClose: (createdId: string | undefined) => void }) {
  const { mutate, data: created, error, isPending } = useCreateWebhook()
  const canReadOrders = useScopes().has('orders:read')
  const close = () => onClose(created?.id)
  return (
    <SecretDialog
      title="Create a webhook"
      secret={created && { noun: 'secret', label: 'Secret', owner: nameOf(created), text: created.secret }}
      hint="The program needs it to check that a message really comes from your store. Give it to its developers. Then send a test event."
      isPending={isPending}
      onClose={close}
    >
      <WebhookForm
        initialValues={{
          description: '',
          url: '',
          types: ALL_TYPES.filter((type) => canReadOrders || !isOfOrder(type)),
        }}
        submitLabel="Create webhook"
        isPending={isPending}
        error={error}
        renderError={(failure) => (
          <SecretError
            error={failure}
            advice="Close this dialog and look at the list. If it shows the new webhook, open it and rotate its secret, because the secret is lost."
          />
        )}
        onSubmit={(values) => mutate(values)}
        onCancel={close}
      />
    </SecretDialog>
  )
}
