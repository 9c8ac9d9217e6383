// Says why a webhook fails or gets no messages, and what to do.
import { Alert, Button, Text } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNotify } from '../layout/notify.tsx'
import { useNow } from '../layout/use-now.ts'
import { clockText } from '../layout/hold-time.ts'
import { useScopes, useStore } from '../session/session.ts'
import { canManage } from './event-types.ts'
import { healthOf } from './health.ts'
import { deliveriesQuery, useUpdateWebhook } from './queries.ts'
import { type Explanation, explain } from './result-text.ts'

export function StateAlert({ webhook }: { webhook: Webhook }) {
  const health = healthOf(webhook)
  if (health === 'failing') return <FailingAlert webhook={webhook} />
  if (health === 'stopped') return <StoppedAlert webhook={webhook} />
  return health === 'paused' ? <PausedAlert webhook={webhook} /> : null
}

function FailingAlert({ webhook }: { webhook: Webhook }) {
  const now = useNow()
  const notify = useNotify()
  const canRetry = canManage(useScopes(), webhook.types)
  const { mutate, isPending } = useUpdateWebhook(webhook.id)
  const { what, advice } = useExplanation(webhook)
  const { failingSince = '' } = webhook
  const onSuccess = () =>
    notify.done('The service tries everything that waits now. The results appear below.')
  return (
    <Alert color="red" role="status" title={`${what}, since ${clockText(failingSince, now)}`}>
      <Text size="sm">{advice}</Text>
      <Text size="sm" mt={4}>
        The messages wait. The service tries again by itself, with growing pauses, and stops after three days
        of failures.
      </Text>
      {canRetry && (
        // Enabling a webhook makes everything that waits due at once.
        <Button
          size="xs"
          mt="xs"
          variant="default"
          loading={isPending}
          onClick={() => mutate({ enabled: true }, { onSuccess, onError: (error) => notify.error(error) })}
        >
          Try again now
        </Button>
      )}
    </Alert>
  )
}

function StoppedAlert({ webhook }: { webhook: Webhook }) {
  const now = useNow()
  const { what, advice } = useExplanation(webhook)
  const { disabledReason, disabledAt = '' } = webhook
  const isGone = disabledReason === 'gone'
  return (
    <Alert
      color="red"
      role="status"
      title={`Stopped since ${clockText(disabledAt, now)}: ${what.toLowerCase()}`}
    >
      <Text size="sm">{isGone ? 'The receiver wants no more messages.' : advice}</Text>
      <Text size="sm" mt={4}>
        {isGone
          ? 'If that is a mistake, correct the receiver or its address, and choose Resume. Otherwise, delete the webhook.'
          : 'Every attempt failed for three days. When the receiver works again, choose Resume: it then gets the events since.'}
      </Text>
    </Alert>
  )
}

function PausedAlert({ webhook }: { webhook: Webhook }) {
  const now = useNow()
  const { disabledAt = '' } = webhook
  return (
    <Alert color="gray" role="status" title={`Paused since ${clockText(disabledAt, now)}`}>
      The receiver gets no messages. The events wait, and are sent when you choose Resume. The service keeps
      them for 30 days, unless the operator has chosen another time.
    </Alert>
  )
}

/** Why the last attempt failed. Reads the list below, which it shares. */
function useExplanation({ id }: Webhook): Explanation {
  const attempts = { ...deliveriesQuery(useStore(), id), enabled: useScopes().has('pets:read') }
  const last = useInfiniteQuery(attempts).data?.pages[0]?.items[0]
  return (last && explain(last)) ?? { what: 'Every attempt fails', advice: 'The deliveries below say why.' }
}
