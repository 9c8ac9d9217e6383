// Tracing with the SDK of OpenTelemetry. Loaded only if tracing is on: import it with `import()`.
// The stable semantic conventions name the attributes; the files that start spans choose them.
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type TracerProvider,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { VERSION } from '../../values/version.ts'
import type { Log } from '../log.ts'
import { openSpanExport, type SpanExportOptions } from './span-export.ts'
import type { Tracing } from './tracing.ts'

export function openTracing(
  config: SpanExportOptions,
  log: Pick<Log, 'warn'>,
  flushedWithinMs?: number,
): Tracing {
  const { provider, close } = openSpanExport(config, log, flushedWithinMs)
  return tracingWith(provider, close)
}

export function tracingWith(provider: TracerProvider, close: () => Promise<void>): Tracing {
  const tracer = provider.getTracer('petstore', VERSION)
  const contexts = new AsyncLocalStorageContextManager()
  const propagator = new W3CTraceContextPropagator()

  function start(name: string, kind: SpanKind, parent = ROOT_CONTEXT) {
    // If the trace is not sampled, this is only a pair of ids. It is not kept, and nothing runs in its context.
    const started = tracer.startSpan(name, { kind }, parent)
    const { traceId } = started.spanContext()
    return { started, traceId, span: started.isRecording() ? started : undefined }
  }

  return {
    startRequest: (name, headers) => {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
      const { traceId, span } = start(name, SpanKind.SERVER, parent)
      return { traceId, span }
    },
    startOutgoing: (name, attributes) => {
      const { started, traceId, span } = start(name, SpanKind.CLIENT)
      span?.setAttributes(attributes())
      const headers: Record<string, string> = {}
      propagator.inject(trace.setSpan(ROOT_CONTEXT, started), headers, defaultTextMapSetter)
      return { traceId, span, headers }
    },
    startChild: (parent, name, options) =>
      tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent)),
    active: () => {
      const span = trace.getSpan(contexts.active())
      return span?.isRecording() === true ? span : undefined
    },
    run: (span, work) => {
      if (span === trace.getSpan(contexts.active())) return work()
      return contexts.with(span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span), work)
    },
    close,
  }
}
