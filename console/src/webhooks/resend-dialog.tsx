// Sends everything that waits now, and the messages again that were given up since a time.
import { Button, Stack, Text, TextInput } from '@mantine/core'
import type { Delivery, Webhook } from '@petstore/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useStore } from '../session/session.ts'
import { readShopTime } from '../shop/zoned.ts'
import { fieldTime, redeliverAll } from './failed-messages.ts'
import { givenUpMessagesQuery, useRefreshWebhooks } from './queries.ts'

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
  const sinceMs = readShopTime(since)
  const isTime = !Number.isNaN(sinceMs)
  const { data: givenUp, error } = useQuery({
    ...givenUpMessagesQuery(useStore(), webhook.id, sinceMs),
    enabled: isTime,
  })
  const notify = useNotify()
  const { send, sent } = useResend(webhook)
  const count = webhook.waiting + (givenUp?.length ?? 0)
  const onSuccess = () => {
    onClose()
    notify.done(`${counted(count, 'message')} sent again. The results appear in the list.`)
  }
  return (
    <Dialog title="Send failed messages again" onClose={onClose} isModal>
      <Stack>
        <Text size="sm">
          First fix the receiver, and send a test event. Then send what waits for its next attempt, and what
          was given up. A message keeps its id, so that the receiver recognises one that it already has.
        </Text>
        <TextInput
          label="Given up since"
          type="datetime-local"
          data-autofocus
          value={since}
          error={!isTime && 'Enter a date and a time.'}
          disabled={send.isPending}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <Text size="sm" role="status">
          {send.isPending
            ? `${sent} of ${counted(send.variables.length, 'given-up message')} sent …`
            : isTime && foundText(webhook.waiting, givenUp)}
        </Text>
        {error && <ErrorMessage error={error} />}
        {send.error && <ErrorMessage error={send.error} />}
        <DialogFoot>
          <Button variant="default" onClick={onClose}>
            {send.isPending ? 'Stop' : 'Cancel'}
          </Button>
          <Button
            loading={send.isPending}
            disabled={count === 0 || givenUp === undefined}
            onClick={() => send.mutate(givenUp ?? [], { onSuccess })}
          >
            Send again
          </Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}

/** Closing the dialog stops the sending. */
function useResend({ id, waiting }: Webhook) {
  const store = useStore()
  const refresh = useRefreshWebhooks(id)
  const [sent, setSent] = useState(0)
  const [closing] = useState(() => new AbortController())
  useEffect(() => () => closing.abort(), [closing])
  const send = useMutation({
    mutationFn: async (messages: Delivery[]) => {
      // Enabling a webhook makes everything that waits due at once. A redelivery of it would be sent in addition.
      if (waiting > 0) await store.webhooks.update(id, { enabled: true })
      await redeliverAll(messages, (deliveryId) => store.webhooks.redeliver(id, deliveryId), {
        signal: closing.signal,
        onProgress: setSent,
        pause: () => new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS)),
      })
    },
    onSettled: refresh,
  })
  return { send, sent }
}

function foundText(waiting: number, givenUp: Delivery[] | undefined): string {
  if (givenUp === undefined) return 'Looking for messages …'
  const found = [
    waiting > 0 && `${counted(waiting, 'message')} waiting.`,
    givenUp.length > 0 && `${counted(givenUp.length, 'message')} given up.`,
  ]
  return found.filter(Boolean).join(' ') || 'Nothing waits, and nothing was given up since then.'
}
