// The page of one webhook: whether it works, why not, and what was sent.
import './webhooks.css'
import { Stack, Text, Title } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ButtonLink } from '../layout/button-link.tsx'
import { counted } from '../layout/counted.ts'
import { dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { BackIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { useNow } from '../layout/use-now.ts'
import { exactText } from '../layout/when-text.ts'
import { isId } from '../pets/filters.ts'
import { useScopes, useStore } from '../session/session.ts'
import { Deliveries } from './deliveries.tsx'
import { typesText } from './event-types.ts'
import { lastSuccessText, nameOf } from './health.ts'
import { useSendTest, webhookQuery } from './queries.ts'
import { StateAlert } from './state-alert.tsx'
import { TestResult } from './test-result.tsx'
import { WebhookButtons } from './webhook-buttons.tsx'
import { HealthBadge } from './webhook-list.tsx'
import { NotAllowed } from './webhooks-page.tsx'

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/webhooks/$webhookId' })
  const canRead = useScopes().has('webhooks:read')
  return (
    <div className="page-body sub-page">
      <ButtonLink to="/webhooks" variant="subtle" className="back-link" leftSection={<BackIcon size={16} />}>
        Webhooks
      </ButtonLink>
      {canRead ? <FoundWebhook key={webhookId} webhookId={webhookId} /> : <NotAllowed />}
    </div>
  )
}

function FoundWebhook({ webhookId }: { webhookId: string }) {
  const isValid = isId(webhookId)
  const { data, error, refetch } = useQuery({ ...webhookQuery(useStore(), webhookId), enabled: isValid })
  if (data === null || !isValid) return <UnknownWebhook />
  if (data !== undefined) return <WebhookDetails webhook={data} />
  return error === null ? (
    <Loading what="the webhook" height={130} rows={3} />
  ) : (
    <ErrorMessage error={error} onRetry={() => void refetch()} />
  )
}

function WebhookDetails({ webhook }: { webhook: Webhook }) {
  usePageTitle(nameOf(webhook))
  const test = useSendTest(webhook.id)
  return (
    <>
      <div className="webhook-heading">
        <div>
          <Title order={1} size="h2">
            {nameOf(webhook)}
          </Title>
          <Text size="sm" c="dimmed" mt={4} className="webhook-address">
            <HealthBadge webhook={webhook} /> {webhook.url}
          </Text>
        </div>
        <WebhookButtons webhook={webhook} isTesting={test.isPending} onTest={() => test.mutate()} />
      </div>
      {test.error && <ErrorMessage error={test.error} />}
      {test.data !== undefined && (
        <TestResult webhook={webhook} afterId={test.data} sentAt={test.submittedAt} />
      )}
      <StateAlert webhook={webhook} />
      <Facts webhook={webhook} />
      <Deliveries webhook={webhook} />
    </>
  )
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { types, waiting, createdAt, lastDeliveredAt } = webhook
  const now = useNow()
  return (
    <dl className="fact-list">
      <dt>Sends</dt>
      <dd>{typesText(types)}</dd>
      <dt>Last success</dt>
      <dd {...(lastDeliveredAt && { title: exactText(lastDeliveredAt) })}>{lastSuccessText(webhook, now)}</dd>
      <dt>Waiting</dt>
      <dd>{waiting === 0 ? 'Nothing' : counted(waiting, 'message')}</dd>
      <dt>Created</dt>
      <dd>{dateText(createdAt)}</dd>
    </dl>
  )
}

function UnknownWebhook() {
  usePageTitle('No such webhook')
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={1} size="h2">
        This webhook does not exist
      </Title>
      <Text c="dimmed">Another person may have deleted it, or the address is wrong.</Text>
      <AnchorLink to="/webhooks">Show all webhooks</AnchorLink>
    </Stack>
  )
}
