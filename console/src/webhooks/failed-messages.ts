// Messages that were given up, and how to send all of them again.
import type { Delivery } from '@petstore/client'
import { dayOf } from '../layout/dates.ts'
import { hasCode } from '../layout/describe-error.ts'
import { timeText } from '../layout/hold-time.ts'

/**
 * The newest attempt of each event that has not arrived and does not wait for another attempt, oldest first.
 * @param attempts Newest first.
 */
export function givenUpMessages(attempts: readonly Delivery[]): Delivery[] {
  const newest = new Map<string, Delivery>()
  for (const attempt of attempts) {
    if (!newest.has(attempt.messageId)) newest.set(attempt.messageId, attempt)
  }
  return [...newest.values()]
    .filter(({ kind, outcome, nextAttemptAt }) => {
      // For example because a new epoch has begun.
      const isLost = outcome === 'failed' && nextAttemptAt === undefined
      return kind !== 'test' && (outcome === 'given_up' || isLost)
    })
    .toReversed()
}

interface RedeliverOptions {
  signal: AbortSignal
  onProgress: (sent: number) => void
  /** Waits a moment. */
  pause: () => Promise<void>
}

/**
 * Requests the redelivery of each message. The service accepts only some at a time: the others follow when those have been
 * sent. Returns early if the signal is aborted.
 */
export async function redeliverAll(
  messages: readonly Delivery[],
  redeliver: (deliveryId: string) => Promise<unknown>,
  { signal, onProgress, pause }: RedeliverOptions,
): Promise<void> {
  let sent = 0
  while (sent < messages.length && !signal.aborted) {
    try {
      await redeliver(messages[sent]?.id ?? '')
      sent += 1
      onProgress(sent)
    } catch (error) {
      if (!hasCode(error, 'webhook_busy')) throw error
      await pause()
    }
  }
}

/** A time as a field of a form has it, such as "2026-11-18T09:30", in the time zone of the shop. */
export function fieldTime(ms: number): string {
  return `${dayOf(ms)}T${timeText(ms)}`
}
