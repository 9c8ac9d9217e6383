// What a person can do with a webhook.
import { Button, Group } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { lazy, Suspense, useState } from 'react'
import { DeleteIcon, EditIcon, KeyIcon, PauseIcon, ResumeIcon, SendIcon } from '../layout/icons.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useScopes } from '../session/session.ts'
import { canManage } from './event-types.ts'
import { nameOf } from './health.ts'
import { useUpdateWebhook } from './queries.ts'

const EditDialog = lazy(() => import('./edit-dialog.tsx').then((file) => ({ default: file.EditDialog })))
const RotateDialog = lazy(() =>
  import('./rotate-dialog.tsx').then((file) => ({ default: file.RotateDialog })),
)
const DeleteDialog = lazy(() =>
  import('./delete-dialog.tsx').then((file) => ({ default: file.DeleteDialog })),
)
const DIALOGS = { edit: EditDialog, rotate: RotateDialog, delete: DeleteDialog }

interface Props {
  webhook: Webhook
  isTesting: boolean
  onTest: () => void
}

export function WebhookButtons({ webhook, isTesting, onTest }: Props) {
  const [opened, setOpened] = useState<keyof typeof DIALOGS>()
  const scopes = useScopes()
  const OpenDialog = opened && DIALOGS[opened]
  const open = (dialog: keyof typeof DIALOGS) => ({
    variant: 'default',
    'aria-haspopup': 'dialog' as const,
    onClick: () => setOpened(dialog),
  })
  return (
    <Group gap="xs" className="webhook-buttons">
      {canManage(scopes, webhook.types) && (
        <>
          {webhook.enabled && (
            <Button leftSection={<SendIcon size={16} />} loading={isTesting} onClick={onTest}>
              Send a test event
            </Button>
          )}
          <PauseButton webhook={webhook} />
          <Button {...open('edit')} leftSection={<EditIcon size={16} />}>
            Edit
          </Button>
          <Button {...open('rotate')} leftSection={<KeyIcon size={16} />}>
            Rotate secret
          </Button>
        </>
      )}
      {scopes.has('webhooks:write') && (
        <Button {...open('delete')} className="danger" leftSection={<DeleteIcon size={16} />}>
          Delete
        </Button>
      )}
      <Suspense>
        {OpenDialog && <OpenDialog webhook={webhook} onClose={() => setOpened(undefined)} />}
      </Suspense>
    </Group>
  )
}

/** Pausing needs no confirmation, because no event is lost. */
function PauseButton({ webhook }: { webhook: Webhook }) {
  const { mutate, isPending } = useUpdateWebhook(webhook.id)
  const notify = useNotify()
  const { enabled } = webhook
  const onSuccess = () =>
    notify.done(
      enabled
        ? `Paused ${nameOf(webhook)}. Its events wait.`
        : `Resumed ${nameOf(webhook)}. It gets what waits.`,
    )
  return (
    <Button
      variant={enabled ? 'default' : 'filled'}
      leftSection={enabled ? <PauseIcon size={16} /> : <ResumeIcon size={16} />}
      loading={isPending}
      onClick={() => mutate({ enabled: !enabled }, { onSuccess, onError: (error) => notify.error(error) })}
    >
      {enabled ? 'Pause' : 'Resume'}
    </Button>
  )
}
