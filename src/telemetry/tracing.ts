// Tracing with OpenTelemetry. Loaded only if tracing is on: import it with `import()`.
// The stable semantic conventions name the attributes; the files that start spans choose them.
import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import type { Span, SpanAttributes, SpanOptions, Tracing } from '../tracing.ts'
import type { TracingSettings } from '../tracing-settings.ts'
import type { Log } from './log.ts'
import { openSpanExport } from './span-export.ts'
import { readTraceContext, writeTraceContext } from './trace-context.ts'

const SPAN = createContextKey('petstore span')
/** How often the clock of spans is compared with the clock of the host. */
const CLOCK_READ_EVERY_MS = 60_000

let clockOffset = 0
let clockReadAt = Number.NEGATIVE_INFINITY

/**
 * Converts a value of `performance.now()` into milliseconds since 1970 with fractions. The SDK would round the start of a
 * span to a whole millisecond, which is longer than many spans.
 */
function toTime(performanceNow: number): number {
  if (performanceNow - clockReadAt > CLOCK_READ_EVERY_MS) {
    clockOffset = Date.now() - performance.now()
    clockReadAt = performanceNow
  }
  return performanceNow + clockOffset
}

const now = () => toTime(performance.now())

class RecordedSpan implements Span {
  readonly #tracer: Tracer
  readonly #span: OtelSpan
  /** The context of the work that belongs to this span. */
  readonly context: Context

  constructor(tracer: Tracer, span: OtelSpan) {
    this.#tracer = tracer
    this.#span = span
    this.context = trace.setSpan(ROOT_CONTEXT, span).setValue(SPAN, this)
  }

  child(name: string, { kind, attributes, startedAt }: SpanOptions = {}): RecordedSpan {
    const span = this.#tracer.startSpan(
      name,
      {
        kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: startedAt === undefined ? now() : toTime(startedAt),
        ...(attributes && { attributes }),
      },
      this.context,
    )
    return new RecordedSpan(this.#tracer, span)
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes)
  }

  linkTo(other: Span): void {
    if (this.isOpen()) this.#span.addLink({ context: (other as RecordedSpan).spanContext() })
  }

  isOpen(): boolean {
    return this.#span.isRecording()
  }

  end(errorType?: string): void {
    if (!this.isOpen()) return
    if (errorType !== undefined) {
      this.#span.setAttribute('error.type', errorType)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end(now())
  }

  spanContext(): SpanContext {
    return this.#span.spanContext()
  }
}

/** Fails if a file with a certificate cannot be read. */
export function openTracing(settings: TracingSettings, log: Log): Tracing {
  const { tracer, close } = openSpanExport(settings, log)
  const manager = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(manager)

  /** The samplers of the standard need no attributes. They are added only to spans that are recorded. */
  const start = (name: string, kind: SpanKind, parent: SpanContext | undefined) =>
    tracer.startSpan(
      name,
      { kind, startTime: now() },
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    )
  const recorded = (span: OtelSpan) => (span.isRecording() ? new RecordedSpan(tracer, span) : undefined)

  return {
    startRequest: (name, headers) => {
      const span = start(name, SpanKind.SERVER, readTraceContext(headers))
      return { traceId: span.spanContext().traceId, span: recorded(span) }
    },
    startOutgoing: (name, attributes) => {
      const started = start(name, SpanKind.CLIENT, undefined)
      const { traceId } = started.spanContext()
      const span = recorded(started)
      span?.set(attributes())
      return { traceId, span, headers: writeTraceContext(started.spanContext()) }
    },
    active: () => {
      const span = manager.active().getValue(SPAN) as RecordedSpan | undefined
      return span?.isOpen() === true ? span : undefined
    },
    run: (span, work) => {
      const target = (span as RecordedSpan | undefined)?.context ?? ROOT_CONTEXT
      return manager.active() === target ? work() : manager.with(target, work)
    },
    close: async () => {
      await close()
      context.disable()
    },
  }
}
