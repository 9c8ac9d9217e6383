// Tracing that keeps its spans in memory.
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import { tracingWith } from '../../src/telemetry/tracing/open-tracing.ts'
import type { Tracing } from '../../src/telemetry/tracing/tracing.ts'

interface Recorded {
  tracing: Tracing
  /** In the order in which they were started. They change until they end. */
  spans: ReadableSpan[]
}

/** All code runs in the context of one request, whose own span is not recorded. */
export function recordTracing(): Recorded {
  const { tracing, spans } = recordRequests()
  const { span: request } = tracing.startRequest('request', {})
  spans.length = 0
  return { tracing: { ...tracing, active: () => request }, spans }
}

/** Records the spans of requests that the test starts. */
export function recordRequests(): Recorded {
  const spans: ReadableSpan[] = []
  const provider = new TracerProvider({
    spanProcessors: [
      {
        onStart: (span) => void spans.push(span),
        onEnd: () => {},
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  })
  return { tracing: tracingWith(provider, () => provider.shutdown()), spans }
}

export const errorTypeOf = ({ attributes }: ReadableSpan) => attributes['error.type']
