// The list of webhooks, newest first: what each is for, what it sends, and whether it works.
import { Text } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { counted } from '../layout/counted.ts'
import { useNow } from '../layout/use-now.ts'
import { exactText } from '../layout/when-text.ts'
import { clockText } from '../layout/hold-time.ts'
import { typesText } from './event-types.ts'
import { Tint } from '../layout/tints.tsx'
import type { Tone } from '../layout/tones.ts'
import { type Health, HEALTH_TEXTS, healthOf, lastSuccessText, nameOf } from './health.ts'

const TONES: Record<Health, Tone> = {
  working: 'ok',
  failing: 'bad',
  stopped: 'bad',
  unused: 'done',
  paused: 'done',
}

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
  const { id, url, types, waiting, lastDeliveredAt } = webhook
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
      <Text size="sm" className="success" {...(lastDeliveredAt && { title: exactText(lastDeliveredAt) })}>
        <span className="label">{lastDeliveredAt ? 'Last success ' : ''}</span>
        {lastSuccessText(webhook, now)}
      </Text>
      <div className="state">
        <HealthBadge webhook={webhook} />
        <Text size="xs" c="dimmed" mt={2}>
          {stateText(webhook, now)}
          {waiting > 0 && <span className="waiting">{`Waiting: ${counted(waiting, 'message')}`}</span>}
        </Text>
      </div>
    </li>
  )
}

export function HealthBadge({ webhook }: { webhook: Webhook }) {
  const health = healthOf(webhook)
  return <Tint tone={TONES[health]}>{HEALTH_TEXTS[health]}</Tint>
}

/** Since when the webhook fails, or is disabled. */
function stateText({ enabled, failingSince, disabledAt }: Webhook, now: number): string {
  const since = enabled ? failingSince : disabledAt
  return since === undefined ? '' : `Since ${clockText(since, now)}`
}
