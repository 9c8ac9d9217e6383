// What happened to the test event that a person has just sent.
import { Alert } from '@mantine/core'
import type { Webhook } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { useStore } from '../session/session.ts'
import { testResultQuery, useRefreshWebhooks } from './queries.ts'
import { explain, resultText } from './result-text.ts'

/** A test event usually takes a second. */
const LATE_AFTER_MS = 20_000

interface Props {
  webhook: Webhook
  /** The newest delivery before the test event. */
  afterId: string
  sentAt: number
}

export function TestResult({ webhook, afterId, sentAt }: Props) {
  const { id, failingSince } = webhook
  const { data: result } = useQuery(testResultQuery(useStore(), id, afterId))
  const isLate = useTimedText((now) => now - sentAt > LATE_AFTER_MS)
  useRefreshAfter(result?.id, id)
  if (!result) {
    return (
      <Alert color="gray" role="status" title="The test event is on its way …">
        {isLate && lateText(failingSince !== undefined)}
      </Alert>
    )
  }
  const explanation = explain(result)
  if (explanation === undefined) {
    return (
      <Alert color="teal" role="status" title="The test event has arrived">
        {resultText(result)}. The receiver works.
      </Alert>
    )
  }
  return (
    <Alert color="red" role="status" title={`The test event has not arrived: ${explanation.what}`}>
      {/* While the webhook fails, the next message says what to do. */}
      {failingSince === undefined && explanation.advice}
    </Alert>
  )
}

function lateText(isFailing: boolean): string {
  return isFailing
    ? 'A receiver that fails often gets a message only every five minutes. After you have fixed it, choose “Try again now”.'
    : 'It takes longer than usual. Ask the operator whether “petstore deliver” runs, which sends the messages.'
}

/** The list of deliveries shows the result at the same time. */
function useRefreshAfter(resultId: string | undefined, webhookId: string): void {
  const refresh = useRefreshWebhooks(webhookId)
  useEffect(() => {
    if (resultId !== undefined) void refresh()
  }, [resultId, refresh])
}
