// The API keys, and the sessions of people who are signed in, for administrators.
import './api-keys.css'
import { Badge, Button, Card, Group, Switch, Text, Title } from '@mantine/core'
import type { ApiKey } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PlusIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { Page } from '../layout/page.tsx'
import { useNow } from '../layout/use-now.ts'
import { useScopes, useSession, useStore } from '../session/session.ts'
import { DeprecatedCalls } from './deprecated-calls.tsx'
import { KeyList } from './key-list.tsx'
import { hasEnded } from './key-state.ts'
import { apiKeysQuery, KEYS_MAX } from './queries.ts'
import { scopeLabel, sortedScopes } from './scopes.ts'
import { Sessions } from './session-list.tsx'

const CreateDialog = lazy(() =>
  import('./create-dialog.tsx').then((file) => ({ default: file.CreateDialog })),
)
const RotateDialog = lazy(() =>
  import('./rotate-dialog.tsx').then((file) => ({ default: file.RotateDialog })),
)
const RevokeDialog = lazy(() =>
  import('./revoke-dialog.tsx').then((file) => ({ default: file.RevokeDialog })),
)

const EndSessionDialog = lazy(() =>
  import('./end-session-dialog.tsx').then((file) => ({ default: file.EndSessionDialog })),
)

const TITLE = 'Keys and sessions'

type Content = { does: 'create' } | { does: 'rotate' | 'revoke' | 'end'; apiKey: ApiKey }

export function ApiKeysPage() {
  return useScopes().has('admin') ? <AdminPage /> : <OwnKeyPage />
}

function AdminPage() {
  const [content, setContent] = useState<Content>()
  const now = useNow()
  const { session } = useSession()
  const { data: apiKeys, error, isPending, refetch } = useQuery(apiKeysQuery(useStore()))
  const ownId = session?.own.id
  return (
    <Page
      title={TITLE}
      actions={
        <Button
          id="create-key"
          leftSection={<PlusIcon size={16} />}
          disabled={apiKeys === undefined}
          onClick={() => setContent({ does: 'create' })}
        >
          Create a key
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        Every program, and every person without an account, needs a key. Give each its own key, with only the
        permissions that it needs.
      </Text>
      {isPending && <Loading what="keys" height={64} rows={4} />}
      {error && apiKeys === undefined && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {apiKeys && (
        <KeyCard
          apiKeys={apiKeys}
          ownId={ownId}
          now={now}
          onRotate={(apiKey) => setContent({ does: 'rotate', apiKey })}
          onRevoke={(apiKey) => setContent({ does: 'revoke', apiKey })}
        />
      )}
      <Sessions ownId={ownId} now={now} onEnd={(apiKey) => setContent({ does: 'end', apiKey })} />
      <DeprecatedCalls now={now} />
      <Suspense>
        <OpenDialog
          content={content}
          apiKeys={apiKeys ?? []}
          ownId={ownId}
          onClose={() => setContent(undefined)}
        />
      </Suspense>
    </Page>
  )
}

interface OpenDialogProps {
  content: Content | undefined
  apiKeys: ApiKey[]
  ownId: string | undefined
  onClose: () => void
}

function OpenDialog({ content, apiKeys, ownId, onClose }: OpenDialogProps) {
  if (content === undefined) return null
  if (content.does === 'create') return <CreateDialog apiKeys={apiKeys} onClose={onClose} />
  const { does, apiKey } = content
  if (does === 'end') return <EndSessionDialog session={apiKey} onClose={onClose} />
  const Dialog = does === 'rotate' ? RotateDialog : RevokeDialog
  return <Dialog apiKey={apiKey} isOwn={apiKey.id === ownId} onClose={onClose} />
}

type KeyCardProps = Parameters<typeof KeyList>[0]

function KeyCard({ apiKeys, now, ...props }: KeyCardProps) {
  const [isEndedShown, setEndedShown] = useState(false)
  const valid = apiKeys.filter((apiKey) => !hasEnded(apiKey, now))
  const endedCount = apiKeys.length - valid.length
  const shown = isEndedShown ? apiKeys : valid
  return (
    <section aria-label="Keys" className="list-section">
      <Group justify="space-between" {...(endedCount > 0 && { mih: 44 })}>
        <Text size="sm" c="dimmed" role="status">
          {counted(valid.length, 'valid key')}
        </Text>
        {endedCount > 0 && (
          <Switch
            classNames={{ body: 'ended-switch' }}
            label={`Show ended keys (${endedCount})`}
            checked={isEndedShown}
            onChange={(event) => setEndedShown(event.currentTarget.checked)}
          />
        )}
      </Group>
      {shown.length === 0 ? (
        <Text py="md">No key is valid. Create one for each program and each person.</Text>
      ) : (
        <KeyList apiKeys={shown} now={now} {...props} />
      )}
      {apiKeys.length === KEYS_MAX && (
        <Text size="sm" c="dimmed">
          The list shows the newest {KEYS_MAX} keys. The command “petstore api-keys list” shows all.
        </Text>
      )}
    </section>
  )
}

/** For keys without the scope `admin`. */
function OwnKeyPage() {
  const { session } = useSession()
  if (session === undefined) return null
  const { name, scopes, expiresAt } = session.own
  return (
    <Page title={TITLE}>
      <Text maw={640}>
        An administrator can create, rotate and revoke API keys. If you need another key or more permissions,
        ask your administrator.
      </Text>
      <Card withBorder maw={640} w="100%">
        <Title order={2} size="h5">
          Your key: {name}
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          {expiresAt === undefined ? 'It does not expire.' : `It expires on ${dateText(expiresAt)}.`}
        </Text>
        <Group gap={4} role="list" aria-label="Permissions">
          {sortedScopes(scopes).map((scope) => (
            <Badge key={scope} variant="default" tt="none" fw={500} role="listitem">
              {scopeLabel(scope)}
            </Badge>
          ))}
        </Group>
      </Card>
    </Page>
  )
}
