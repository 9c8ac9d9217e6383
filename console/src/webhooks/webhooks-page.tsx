// All webhooks with their health.
import './webhooks.css'
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PlusIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { Page } from '../layout/page.tsx'
import { useScopes, useStore } from '../session/session.ts'
import { canManage } from './event-types.ts'
import { webhooksQuery } from './queries.ts'
import { WebhookList } from './webhook-list.tsx'

const CreateDialog = lazy(() =>
  import('./create-dialog.tsx').then((file) => ({ default: file.CreateDialog })),
)

export function WebhooksPage() {
  const scopes = useScopes()
  const navigate = useNavigate()
  const [isCreating, create] = useDisclosure()

  function close(createdId: string | undefined): void {
    create.close()
    if (createdId !== undefined) {
      void navigate({ to: '/webhooks/$webhookId', params: { webhookId: createdId } })
    }
  }

  return (
    <Page
      title="Webhooks"
      actions={
        canManage(scopes) && (
          <Button leftSection={<PlusIcon size={16} />} aria-haspopup="dialog" onClick={create.open}>
            Create a webhook
          </Button>
        )
      }
    >
      <Text size="sm" c="dimmed" maw={720}>
        A webhook tells another program, such as a web shop or an accounting system, about each change: the
        service sends a message to the address of the program, and tries again if it does not arrive.
      </Text>
      {scopes.has('webhooks:read') ? <Webhooks /> : <NotAllowed />}
      <Suspense>{isCreating && <CreateDialog onClose={close} />}</Suspense>
    </Page>
  )
}

function Webhooks() {
  const { data: webhooks, error, refetch } = useQuery(webhooksQuery(useStore()))
  if (webhooks === undefined) {
    return error === null ? (
      <Loading what="webhooks" height={64} rows={3} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <section aria-label="Webhooks" className="list-section">
      {webhooks.length === 0 ? <NoWebhooks /> : <WebhookList webhooks={webhooks} />}
    </section>
  )
}

function NoWebhooks() {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>No program is connected yet</Text>
      <Text c="dimmed" ta="center" maw={460}>
        You need the address at which the program receives messages. Its developers know it: it starts with
        https:// and often contains the word “webhook” or “hook”.
      </Text>
    </Stack>
  )
}

export function NotAllowed() {
  return (
    <Alert color="gray" title="Your key does not allow this page">
      Ask your administrator for a key with the permission webhooks:read.
    </Alert>
  )
}
