// The attempts to deliver a message, newest first, with what came back.
import { Alert, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import type { Delivery, Webhook } from '@petstore/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { DAY_MS } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useNow } from '../layout/use-now.ts'
import { agoText, exactText } from '../layout/when-text.ts'
import { useScopes, useStore } from '../session/session.ts'
import { canManage, typeLabel } from './event-types.ts'
import { OutcomeBadge } from './outcome-badge.tsx'
import { deliveriesQuery, type Outcome, useRedeliver } from './queries.ts'
import { nextTryText, outcomeText, resultText } from './result-text.ts'

const DeliveryDialog = lazy(() =>
  import('./delivery-dialog.tsx').then((file) => ({ default: file.DeliveryDialog })),
)
const ResendDialog = lazy(() =>
  import('./resend-dialog.tsx').then((file) => ({ default: file.ResendDialog })),
)

const FILTERS = ['all', 'delivered', 'failed', 'given_up'] as const
type Filter = (typeof FILTERS)[number]

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const scopes = useScopes()
  const [filter, setFilter] = useState<Filter>('all')
  const [resentFrom, setResentFrom] = useState<number>()
  const canSend = webhook.enabled && canManage(scopes, webhook.types)
  return (
    <section aria-labelledby="deliveries">
      <Group justify="space-between" align="flex-end" mb="sm">
        <Title order={2} size="h4" id="deliveries">
          Deliveries
        </Title>
        {canSend && (
          <Button
            variant="default"
            size="sm"
            aria-haspopup="dialog"
            onClick={() => setResentFrom(startOf(webhook))}
          >
            Send failed ones again
          </Button>
        )}
      </Group>
      {scopes.has('pets:read') ? (
        <>
          <SegmentedControl
            mb="xs"
            aria-label="Result"
            data={FILTERS.map((value) => ({ value, label: value === 'all' ? 'All' : outcomeText(value) }))}
            value={filter}
            onChange={setFilter}
          />
          <Attempts
            key={filter}
            webhook={webhook}
            outcome={filter === 'all' ? undefined : filter}
            canSend={canSend}
            onSendSince={setResentFrom}
          />
        </>
      ) : (
        <Alert color="gray">Your key does not allow this list. It needs the permission pets:read.</Alert>
      )}
      <Suspense>
        {resentFrom !== undefined && (
          <ResendDialog webhook={webhook} from={resentFrom} onClose={() => setResentFrom(undefined)} />
        )}
      </Suspense>
    </section>
  )
}

/** When the failures started or, if they have ended, a day ago. */
function startOf({ failingSince }: Webhook): number {
  return failingSince === undefined ? Date.now() - DAY_MS : Date.parse(failingSince)
}

interface AttemptsProps {
  webhook: Webhook
  outcome: Outcome | undefined
  canSend: boolean
  /** Opens the dialog that sends failed messages again. */
  onSendSince: (from: number) => void
}

function Attempts({ webhook, outcome, canSend, onSendSince }: AttemptsProps) {
  const [shown, setShown] = useState<Delivery>()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    deliveriesQuery(useStore(), webhook.id, outcome),
  )
  const sendAgain = useSendAgain(webhook.id)
  const now = useNow()
  const attempts = data?.pages.flatMap(({ items }) => items)
  if (attempts === undefined) {
    return error === null ? (
      <Loading what="deliveries" height={160} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  }
  if (attempts.length === 0) return <NoAttempts isFiltered={outcome !== undefined} />
  return (
    <>
      <ol className="plain-list" aria-label="Deliveries">
        {attempts.map((delivery) => (
          <AttemptRow
            key={delivery.id}
            delivery={delivery}
            now={now}
            onShow={setShown}
            onSendAgain={canSend ? sendAgain : undefined}
          />
        ))}
      </ol>
      {error !== null && <ErrorMessage error={error} onRetry={() => void fetchNextPage()} />}
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
      <Suspense>
        {shown && (
          <DeliveryDialog
            delivery={attempts.find(({ id }) => id === shown.id) ?? shown}
            now={now}
            attempts={attempts.filter(({ messageId }) => messageId === shown.messageId)}
            onSendAgain={canSend ? sendAgain : undefined}
            onSendSince={canSend ? onSendSince : undefined}
            onClose={() => setShown(undefined)}
          />
        )}
      </Suspense>
    </>
  )
}

function useSendAgain(webhookId: string): (delivery: Delivery) => void {
  const { mutate } = useRedeliver(webhookId)
  const notify = useNotify()
  const onSuccess = () => notify.done('The message is on its way. The result appears at the top of the list.')
  return ({ id }) => mutate(id, { onSuccess, onError: (error) => notify.error(error) })
}

interface RowProps {
  delivery: Delivery
  now: number
  onShow: (delivery: Delivery) => void
  /** Undefined if the person cannot send messages, or the webhook is paused. */
  onSendAgain: ((delivery: Delivery) => void) | undefined
}

function AttemptRow({ delivery, now, onShow, onSendAgain }: RowProps) {
  const { type, petId, outcome, at, attempt, kind } = delivery
  const label = typeLabel(type)
  const nextTry = nextTryText(delivery, now)
  const about = petId === undefined ? label : `${label}, No. ${petId}`
  return (
    <li className="delivery-row" data-outcome={outcome}>
      <div className="event">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="xs" c="dimmed">
          {petId !== undefined && (
            <>
              <AnchorLink to="/pets/$petId" params={{ petId }} inherit underline="always">
                No. {petId}
              </AnchorLink>{' '}
              ·{' '}
            </>
          )}
          <time dateTime={at} title={exactText(at)}>
            {agoText(at, now)}
          </time>
          {kind === 'redelivery' && ' · sent again'}
          {attempt > 1 && ` · attempt ${attempt}`}
          {nextTry && ` · next try ${nextTry}`}
        </Text>
      </div>
      <div className="result">
        <OutcomeBadge outcome={outcome} />
        <Text size="sm">{resultText(delivery)}</Text>
      </div>
      <div className="actions">
        <Button
          variant="default"
          size="xs"
          aria-label={`Details: ${about}`}
          aria-haspopup="dialog"
          onClick={() => onShow(delivery)}
        >
          Details
        </Button>
        {onSendAgain && (
          <Button
            variant="default"
            size="xs"
            aria-label={`Send again: ${about}`}
            onClick={() => onSendAgain(delivery)}
          >
            Send again
          </Button>
        )}
      </div>
    </li>
  )
}

function NoAttempts({ isFiltered }: { isFiltered: boolean }) {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>{isFiltered ? 'No delivery has this result' : 'Nothing was sent yet'}</Text>
      {!isFiltered && (
        <Text c="dimmed" ta="center" maw={460}>
          Send a test event to see whether the receiver works, or wait for the next change in the store.
        </Text>
      )}
    </Stack>
  )
}
