// Tracing that keeps its spans in memory. All code runs in the context of one request.
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import { tracingWith } from '../../src/telemetry/tracing/open-tracing.ts'
import type { Tracing } from '../../src/telemetry/tracing/tracing.ts'

/** `spans` are the spans of the request, in the order in which they were started. They change until they end. */
export function recordTracing(): { tracing: Tracing; spans: ReadableSpan[] } {
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
  const tracing = tracingWith(provider, () => provider.shutdown())
  const { span: request } = tracing.startRequest('request', {})
  spans.length = 0
  return { tracing: { ...tracing, active: () => request }, spans }
}

export const errorTypeOf = ({ attributes }: ReadableSpan) => attributes['error.type']
