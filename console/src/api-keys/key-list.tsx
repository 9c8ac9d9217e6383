// The list of keys, newest first, with what each allows and whether it still works.
import { Badge, Button, Group, Text } from '@mantine/core'
import type { ApiKey } from '@petstore/client'
import { DAY_MS, dateText, dateTimeText } from '../layout/dates.ts'
import { Tint } from '../layout/tints.tsx'
import type { Tone } from '../layout/tones.ts'
import { agoText } from '../layout/when-text.ts'
import { hasEnded, type KeyState, keyState } from './key-state.ts'
import { scopeLabel, sortedScopes } from './scopes.ts'

const STATES: Record<KeyState, string> = {
  valid: 'Valid',
  'expires-soon': 'Expires soon',
  expired: 'Expired',
  revoked: 'Revoked',
}

const TONES: Record<KeyState, Tone> = {
  valid: 'ok',
  'expires-soon': 'wait',
  expired: 'done',
  revoked: 'bad',
}

export interface KeyActions {
  onRotate: (apiKey: ApiKey) => void
  onRevoke: (apiKey: ApiKey) => void
}

interface Props extends KeyActions {
  apiKeys: ApiKey[]
  /** The id of the key that the page itself uses. */
  ownId: string | undefined
  now: number
}

export function KeyList({ apiKeys, ownId, now, ...actions }: Props) {
  return (
    <>
      {/* Each row repeats its labels for screen readers and on narrow screens. */}
      <div className="key-row key-head" aria-hidden="true">
        <span>Name</span>
        <span>Permissions</span>
        <span>Last used</span>
        <span>State</span>
        <span />
      </div>
      <ul className="plain-list" aria-label="API keys">
        {apiKeys.map((apiKey) => (
          <KeyRow key={apiKey.id} apiKey={apiKey} isOwn={apiKey.id === ownId} now={now} {...actions} />
        ))}
      </ul>
    </>
  )
}

interface RowProps extends KeyActions {
  apiKey: ApiKey
  isOwn: boolean
  now: number
}

function KeyRow({ apiKey, isOwn, now, onRotate, onRevoke }: RowProps) {
  const { name, scopes, createdAt, lastUsedAt } = apiKey
  const isEnded = hasEnded(apiKey, now)
  const state = keyState(apiKey, now)
  // The service stores the last use once a minute.
  const used = isOwn ? 'just now' : lastUsedAt && agoText(lastUsedAt, now)
  return (
    <li className="key-row" data-ended={isEnded || undefined}>
      <div className="name">
        <Group gap={6} wrap="nowrap">
          <Text fw={600} truncate title={name}>
            {name}
          </Text>
          {isOwn && (
            <Badge variant="outline" tt="none" flex="none">
              In use here
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          Created {dateText(createdAt)}
          {apiKey.rateLimit !== undefined && `, max ${apiKey.rateLimit} requests per second`}
        </Text>
      </div>
      <Group gap={4} className="scopes" role="list" aria-label="Permissions">
        {sortedScopes(scopes).map((scope) => (
          <Badge key={scope} variant="default" tt="none" fw={500} title={scope} role="listitem">
            {scopeLabel(scope)}
          </Badge>
        ))}
      </Group>
      <Text size="sm" className="used" {...(lastUsedAt !== undefined && { title: dateTimeText(lastUsedAt) })}>
        <span className="label">{used === undefined ? '' : 'Last used '}</span>
        {used ?? 'Never used'}
      </Text>
      <div className="state">
        <Tint tone={TONES[state]}>{STATES[state]}</Tint>
        <Text size="xs" c="dimmed" mt={2}>
          {endText(apiKey, now)}
        </Text>
      </div>
      <div className="actions">
        {!isEnded && (
          <Button
            variant="default"
            size="sm"
            px="sm"
            aria-label={`Rotate the key of ${name}`}
            onClick={() => onRotate(apiKey)}
          >
            Rotate
          </Button>
        )}
        {!isEnded && (
          <Button
            variant="default"
            size="sm"
            px="sm"
            aria-label={`Revoke the key of ${name}`}
            onClick={() => onRevoke(apiKey)}
          >
            Revoke
          </Button>
        )}
      </div>
    </li>
  )
}

function endText(apiKey: ApiKey, now: number): string {
  const { expiresAt, revokedAt } = apiKey
  if (revokedAt !== undefined) return dateText(revokedAt)
  if (expiresAt === undefined) return 'No expiry'
  if (hasEnded(apiKey, now)) return dateText(expiresAt)
  // The old key of a rotation often ends on the same day.
  const isNear = Date.parse(expiresAt) - now < 2 * DAY_MS
  return `Until ${isNear ? dateTimeText(expiresAt) : dateText(expiresAt)}`
}
