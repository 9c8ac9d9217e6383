// The people who are signed in: who, with which role, since when, and when they were last active.
import { Badge, Button, Card, Group, Text, Title } from '@mantine/core'
import type { ApiKey } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { dateTimeText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { agoText } from '../layout/when-text.ts'
import { useStore } from '../session/session.ts'
import { KEYS_MAX, sessionsQuery } from './queries.ts'
import { roleText } from './roles.ts'

interface Props {
  /** The id of the key that the page itself uses. */
  ownId: string | undefined
  now: number
  onEnd: (session: ApiKey) => void
}

export function Sessions(props: Props) {
  const { data: sessions, error, isPending, refetch } = useQuery(sessionsQuery(useStore()))
  return (
    <Card component="section" withBorder aria-labelledby="sessions">
      <Title order={2} size="h5" id="sessions" tabIndex={-1}>
        People who are signed in
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Each browser is one session. It ends when the person signs out, or after 12 hours. To keep a person
        out, first remove the account at your identity provider, then end the sessions here.
      </Text>
      {isPending && <Loading what="the sessions" height={64} />}
      {error && sessions === undefined && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {sessions?.length === 0 && (
        <Text size="sm">
          Nobody is signed in with an account. People with an API key are not listed here.
        </Text>
      )}
      {sessions !== undefined && sessions.length > 0 && <SessionList sessions={sessions} {...props} />}
      {sessions?.length === KEYS_MAX && (
        <Text size="sm" c="dimmed">
          The list shows the newest {KEYS_MAX} sessions. The command “petstore api-keys list” shows all.
        </Text>
      )}
    </Card>
  )
}

function SessionList({ sessions, ownId, ...props }: Props & { sessions: ApiKey[] }) {
  return (
    <>
      {/* Each row repeats its labels for screen readers and on narrow screens. */}
      <div className="key-row session-row key-head" aria-hidden="true">
        <span>Person</span>
        <span>Role</span>
        <span>Signed in</span>
        <span>Last active</span>
        <span />
      </div>
      <ul className="plain-list" aria-label="Sessions">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} isOwn={session.id === ownId} {...props} />
        ))}
      </ul>
    </>
  )
}

interface RowProps extends Omit<Props, 'ownId'> {
  session: ApiKey
  isOwn: boolean
}

function SessionRow({ session, isOwn, now, onEnd }: RowProps) {
  const { name, role, createdAt, lastUsedAt } = session
  // The service stores the last use once a minute.
  const used = isOwn ? 'just now' : agoText(lastUsedAt ?? createdAt, now)
  return (
    <li className="key-row session-row">
      <Group gap={6} wrap="nowrap" className="name">
        <Text fw={600} truncate title={name}>
          {name}
        </Text>
        {isOwn && (
          <Badge variant="outline" tt="none" flex="none">
            This browser
          </Badge>
        )}
      </Group>
      <Text size="sm" className="state">
        {roleText(role)}
      </Text>
      <Text size="sm" className="since">
        <span className="label">Signed in </span>
        {dateTimeText(createdAt)}
      </Text>
      <Text size="sm" className="used" {...(lastUsedAt !== undefined && { title: dateTimeText(lastUsedAt) })}>
        <span className="label">Last active </span>
        {used}
      </Text>
      <div className="actions">
        {!isOwn && (
          <Button
            variant="default"
            size="sm"
            px="sm"
            aria-label={`End session of ${name}`}
            aria-haspopup="dialog"
            onClick={() => onEnd(session)}
          >
            End session
          </Button>
        )}
      </div>
    </li>
  )
}
