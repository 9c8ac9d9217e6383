// The list of webhooks, newest first: what each is for, what it sends, and whether it works.
import { Text } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { useNow } from '../layout/use-now.ts'
import { agoText, exactText } from '../layout/when-text.ts'
import { clockText } from '../selling/hold-time.ts'
import { useScopes, useStore } from '../session/session.ts'
import { typesText } from './event-types.ts'
import { HEALTH_TEXTS, healthOf, nameOf, messagesText } from './health.ts'
import { type LastAttempts, lastAttemptsQuery } from './queries.ts'
import { explain } from './result-text.ts'

export function WebhookList({ webhooks }: { webhooks: Webhook[] }) {
  const now = useNow()
  return (
    <>
      {/* Each row repeats its labels for screen readers and on narrow screens. */}
      <div className="webhook-row webhook-head" aria-hidden="true">
        <span>What it is for</span>
        <span>Sends</span>
        <span>Last success</span>
        <span>State</span>
      </div>
      <ul className="plain-list" aria-label="Webhooks">
        {webhooks.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} now={now} />
        ))}
      </ul>
    </>
  )
}

function WebhookRow({ webhook, now }: { webhook: Webhook; now: number }) {
  const { id, url, types, waiting } = webhook
  const attempts = useLastAttempts(id)
  const delivered = attempts?.delivered
  return (
    <li className="webhook-row">
      <div className="name">
        <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: id }} fw={600} underline="hover">
          {nameOf(webhook)}
        </AnchorLink>
        <Text size="xs" c="dimmed" truncate title={url}>
          {url}
        </Text>
      </div>
      <Text size="sm" className="types" lineClamp={2}>
        {typesText(types)}
      </Text>
      <Text size="sm" className="success" {...(delivered && { title: exactText(delivered.at) })}>
        {attempts && (
          <>
            <span className="label">{delivered ? 'Last success ' : ''}</span>
            {delivered ? agoText(delivered.at, now) : 'No success yet'}
          </>
        )}
      </Text>
      <div className="state">
        <HealthBadge webhook={webhook} attempts={attempts} />
        <Text size="xs" c="dimmed" mt={2}>
          {stateText(webhook, attempts, now)}
          {waiting > 0 && <span className="waiting">{`Waiting: ${messagesText(waiting)}`}</span>}
        </Text>
      </div>
    </li>
  )
}

interface HealthBadgeProps {
  webhook: Webhook
  attempts: LastAttempts | undefined
}

export function HealthBadge({ webhook, attempts }: HealthBadgeProps) {
  const health = healthOf(webhook, attempts?.last === null)
  return (
    <span className="status-badge health" data-health={health}>
      {HEALTH_TEXTS[health]}
    </span>
  )
}

/** Undefined while it is loading, and for keys that cannot read deliveries. */
export function useLastAttempts(id: string): LastAttempts | undefined {
  const store = useStore()
  const canRead = useScopes().has('pets:read')
  return useQuery({ ...lastAttemptsQuery(store, id), enabled: canRead }).data
}

/** Since when the webhook fails and why, or since when it is disabled. */
function stateText(webhook: Webhook, attempts: LastAttempts | undefined, now: number): string {
  const { enabled, failingSince, disabledAt } = webhook
  if (!enabled) return disabledAt === undefined ? '' : `Since ${clockText(disabledAt, now)}`
  if (failingSince === undefined) return ''
  const reason = attempts?.last && explain(attempts.last)?.what
  return `${reason ? `${reason}, since` : 'Since'} ${clockText(failingSince, now)}`
}
