// What needs the owner of the shop, in words, and the state of everything that the shop depends on.
import './health.css'
import { Text, Title } from '@mantine/core'
import type { HealthCheck, HealthReport, Webhook } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ButtonLink } from '../layout/button-link.tsx'
import { counted } from '../layout/counted.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { clockText } from '../layout/hold-time.ts'
import { Loading } from '../layout/loading.tsx'
import { Page } from '../layout/page.tsx'
import { Section } from '../layout/section.tsx'
import { useNow } from '../layout/use-now.ts'
import { agoText } from '../layout/when-text.ts'
import { useScopes, useStore } from '../session/session.ts'
import { HEALTH_TEXTS, healthOf, isFailing, lastSuccessText, nameOf } from '../webhooks/health.ts'
import { webhooksQuery } from '../webhooks/queries.ts'
import { bytesText, detailText, labelOf, needsText, todoText, valueText, verdictText } from './health-text.ts'
import { healthQuery } from './queries.ts'

/** Checks that this page does not know are in the card of the server. */
const IN_OTHER_CARDS: Record<'backups' | 'webhooks' | 'certificate', readonly string[]> = {
  backups: ['backup', 'secondPlace', 'restore', 'archiving'],
  webhooks: ['delivery', 'webhooks'],
  certificate: ['certificate', 'apiKeys'],
}

export function HealthPage() {
  const {
    data: report,
    error,
    refetch,
  } = useQuery({
    ...healthQuery(useStore()),
    // The sidebar may have read it a minute ago.
    staleTime: 0,
  })
  const now = useNow()
  const actions = report && (
    <Text size="xs" c="dimmed" className="only-desk">
      Checked {agoText(report.checkedAt, now)}
    </Text>
  )
  return (
    <Page title="Health" actions={actions}>
      {report === undefined ? (
        error === null ? (
          <Loading what="the health report" height={120} rows={3} />
        ) : (
          <ErrorMessage error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Report report={report} />
      )}
    </Page>
  )
}

function Report({ report: { checks, version, database } }: { report: HealthReport }) {
  const needing = checks.filter(({ state }) => state === 'attention')
  const inOthers = new Set(Object.values(IN_OTHER_CARDS).flat())
  const card = (names: readonly string[]) => checks.filter(({ name }) => names.includes(name))
  return (
    <>
      <Title order={2} size="h1">
        {verdictText(checks)}
      </Title>
      <div className="health-cards">
        {needing.length > 0 && <Needs checks={needing} />}
        <Card title="Backups" checks={card(IN_OTHER_CARDS.backups)} />
        <Card title="Server" checks={checks.filter(({ name }) => !inOthers.has(name))}>
          <StateRow label="Database" value={`PostgreSQL ${database.version}`}>
            {bytesText(database.sizeBytes)}
          </StateRow>
        </Card>
        <Webhooks checks={card(IN_OTHER_CARDS.webhooks)} />
        <Card title="Certificate, keys and version" checks={card(IN_OTHER_CARDS.certificate)}>
          <StateRow label="Petstore" value={version} />
        </Card>
      </div>
    </>
  )
}

function Needs({ checks }: { checks: HealthCheck[] }) {
  const now = useNow()
  const failing = useWebhooks().filter(isFailing)
  return (
    <div className="health-needs">
      <Section isCard title="Needs you">
        <ul className="state-rows">
          {checks.flatMap((check) =>
            check.name === 'webhooks' && failing.length > 0
              ? failing.map((webhook) => <FailingWebhook key={webhook.id} webhook={webhook} />)
              : [
                  <StateRow key={check.name} state="attention" label={needsText(check, now)}>
                    {todoText(check)}
                  </StateRow>,
                ],
          )}
        </ul>
      </Section>
    </div>
  )
}

function FailingWebhook({ webhook }: { webhook: Webhook }) {
  const now = useNow()
  const { id, failingSince, disabledAt, enabled, waiting } = webhook
  const since = failingSince ?? disabledAt
  const open = (
    <ButtonLink
      to="/webhooks/$webhookId"
      params={{ webhookId: id }}
      variant="default"
      size="xs"
      aria-label={`Open the webhook ${nameOf(webhook)}`}
    >
      Open the webhook
    </ButtonLink>
  )
  const label = (
    <>
      <b>{nameOf(webhook)}</b> has not taken its messages{since && ` since ${clockText(since, now)}`}
    </>
  )
  return (
    <StateRow state="attention" label={label} value={open}>
      {counted(waiting, 'message')} {waiting === 1 ? 'waits' : 'wait'}.{' '}
      {enabled
        ? 'Nothing is lost: the service sends them again by itself, for three days.'
        : 'The service has stopped sending.'}
    </StateRow>
  )
}

interface CardProps {
  title: string
  checks: HealthCheck[]
  children?: ReactNode
}

function Card({ title, checks, children }: CardProps) {
  const now = useNow()
  return (
    <Section isCard title={title}>
      <ul className="state-rows">
        {checks.map((check) => (
          <StateRow
            key={check.name}
            state={check.state}
            label={labelOf(check)}
            value={valueText(check, now)}
            meter={check.name === 'disk' ? check : undefined}
          >
            {detailText(check, now)}
          </StateRow>
        ))}
        {children}
      </ul>
    </Section>
  )
}

/** With each webhook in the place of the check of all, if the key can read them. */
function Webhooks({ checks }: { checks: HealthCheck[] }) {
  const now = useNow()
  const webhooks = useWebhooks()
  if (checks.length === 0 && webhooks.length === 0)
    return (
      <Section isCard title="Webhooks">
        <Text size="sm" c="dimmed">
          No other program is connected.
        </Text>
      </Section>
    )
  return (
    <Card title="Webhooks" checks={checks.filter(({ name }) => name !== 'webhooks' || webhooks.length === 0)}>
      {webhooks.map((webhook) => (
        <StateRow
          key={webhook.id}
          state={isFailing(webhook) ? 'attention' : 'ok'}
          label={
            <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} inherit c="inherit">
              {nameOf(webhook)}
            </AnchorLink>
          }
          value={webhookValue(webhook, now)}
        />
      ))}
    </Card>
  )
}

function webhookValue(webhook: Webhook, now: number): string {
  if (webhook.waiting > 0) return `${webhook.waiting.toLocaleString('en')} waiting`
  const health = healthOf(webhook)
  return health === 'working' ? lastSuccessText(webhook, now) : HEALTH_TEXTS[health]
}

function useWebhooks(): Webhook[] {
  const enabled = useScopes().has('webhooks:read')
  return useQuery({ ...webhooksQuery(useStore()), enabled }).data ?? []
}

interface StateRowProps {
  /** Without one, the row is a fact that cannot be wrong. */
  state?: HealthCheck['state']
  label: ReactNode
  value?: ReactNode
  meter?: HealthCheck | undefined
  children?: ReactNode
}

const STATE_TEXTS: Record<string, string> = { ok: 'Good', attention: 'Needs you', unknown: 'Unknown' }

function StateRow({ state, label, value, meter, children }: StateRowProps) {
  return (
    <li className="state-row">
      {state === undefined ? (
        <span />
      ) : (
        <span className="dot" data-state={state} role="img" aria-label={STATE_TEXTS[state] ?? state} />
      )}
      <span>{label}</span>
      <span className="state-value">{value}</span>
      {meter?.totalBytes !== undefined && meter.usedBytes !== undefined && (
        <meter
          className="sub"
          aria-label="Disk"
          min={0}
          max={meter.totalBytes}
          value={meter.usedBytes}
          data-state={meter.state}
        />
      )}
      {children && <span className="sub">{children}</span>}
    </li>
  )
}
