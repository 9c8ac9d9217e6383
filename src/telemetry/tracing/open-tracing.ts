// Tracing with OpenTelemetry. Loaded only if tracing is on: import it with `import()`.
// The stable semantic conventions name the attributes; the files that start spans choose them.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, type SpanContext, SpanKind, trace, TraceFlags } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import type { TracingSettings } from '../../config/tracing-settings.ts'
import type { Log } from '../log.ts'
import { RecordedSpan } from './recorded-span.ts'
import { openSpanExport } from './span-export.ts'
import { readTraceContext, writeTraceContext } from './trace-context.ts'
import { makeSpanId, makeTraceId } from './trace-ids.ts'
import type { Trace, Tracing } from './tracing.ts'

/**
 * Fails if a file with a certificate cannot be read.
 * @param flushedWithinMs Max time to export the remaining spans when it is closed.
 */
export function openTracing(settings: TracingSettings, log: Log, flushedWithinMs?: number): Tracing {
  const { target, sampler, newTraceShare, close } = openSpanExport(settings, log, flushedWithinMs)
  const storage = new AsyncLocalStorage<RecordedSpan | undefined>()

  function isSampled(name: string, kind: SpanKind, parent: SpanContext | undefined): boolean {
    // A new trace has a random id. The sampler would derive a random number from it, which takes longer.
    if (parent === undefined) return Math.random() < newTraceShare
    const parentContext = trace.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = sampler.shouldSample(parentContext, parent.traceId, name, kind, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }

  function start(name: string, kind: SpanKind, parent?: SpanContext) {
    const traceId = parent?.traceId ?? makeTraceId()
    const startedAt = performance.now()
    const span = isSampled(name, kind, parent)
      ? new RecordedSpan(target, { name, kind, traceId, parent, startedAt })
      : undefined
    return { traceId, span }
  }

  return {
    startRequest: (name, headers): Trace => start(name, SpanKind.SERVER, readTraceContext(headers)),
    startOutgoing: (name, attributes) => {
      const { traceId, span } = start(name, SpanKind.CLIENT)
      span?.set(attributes())
      const sent = span?.spanContext() ?? { traceId, spanId: makeSpanId(), traceFlags: TraceFlags.NONE }
      return { traceId, span, headers: writeTraceContext(sent) }
    },
    active: () => {
      const span = storage.getStore()
      return span?.isOpen() === true ? span : undefined
    },
    run: (span, work) =>
      storage.getStore() === span ? work() : storage.run(span as RecordedSpan | undefined, work),
    close,
  }
}
