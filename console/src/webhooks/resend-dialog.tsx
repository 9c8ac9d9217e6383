// Sends all messages again that have not arrived since a time.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Delivery, Webhook } from '@petstore/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useStore } from '../session/session.ts'
import { fieldTime, redeliverAll } from './failed-messages.ts'
import { failedMessagesQuery, useRefreshWebhooks } from './queries.ts'

/** How soon to ask again while the service accepts no further message. */
const BUSY_PAUSE_MS = 1_000

interface Props {
  webhook: Webhook
  /** The start of the failures. */
  from: number
  onClose: () => void
}

export function ResendDialog({ webhook, from, onClose }: Props) {
  const [since, setSince] = useState(() => fieldTime(from))
  const sinceMs = Date.parse(since)
  const isTime = !Number.isNaN(sinceMs)
  const { data: failed, error } = useQuery({
    ...failedMessagesQuery(useStore(), webhook.id, sinceMs),
    enabled: isTime,
  })
  const notify = useNotify()
  const { send, sent } = useResend(webhook.id)
  const count = failed?.length ?? 0
  const onSuccess = () => {
    onClose()
    notify.done(`${counted(count, 'message')} sent again. The results appear in the list.`)
  }
  return (
    <Dialog title="Send failed messages again" onClose={onClose} isModal>
      <Stack>
        <Text size="sm">
          First fix the receiver, and send a test event. Then send the messages again that have not arrived. A
          message keeps its id, so that the receiver recognises one that it already has.
        </Text>
        <TextInput
          label="Failed since"
          type="datetime-local"
          data-autofocus
          value={since}
          error={!isTime && 'Enter a date and a time.'}
          disabled={send.isPending}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <Text size="sm" role="status">
          {send.isPending ? `${sent} of ${counted(count, 'message')} sent …` : foundText(failed, isTime)}
        </Text>
        {error && <ErrorMessage error={error} />}
        {send.error && <ErrorMessage error={send.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {send.isPending ? 'Stop' : 'Cancel'}
          </Button>
          <Button
            loading={send.isPending}
            disabled={count === 0}
            onClick={() => send.mutate(failed ?? [], { onSuccess })}
          >
            Send again
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Closing the dialog stops the sending. */
function useResend(webhookId: string) {
  const store = useStore()
  const refresh = useRefreshWebhooks(webhookId)
  const [sent, setSent] = useState(0)
  const [closing] = useState(() => new AbortController())
  useEffect(() => () => closing.abort(), [closing])
  const send = useMutation({
    mutationFn: (messages: Delivery[]) =>
      redeliverAll(messages, (deliveryId) => store.webhooks.redeliver(webhookId, deliveryId), {
        signal: closing.signal,
        onProgress: setSent,
        pause: () => new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS)),
      }),
    onSettled: refresh,
  })
  return { send, sent }
}

function foundText(failed: Delivery[] | undefined, isTime: boolean): string {
  if (!isTime) return ''
  if (failed === undefined) return 'Looking for failed messages …'
  return failed.length === 0
    ? 'Every message since then has arrived.'
    : `${counted(failed.length, 'message')} failed.`
}
