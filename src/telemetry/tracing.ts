// Tracing with OpenTelemetry. Loaded only if tracing is on: import it with `import()`.
// The stable semantic conventions name the attributes; the files that start spans choose them.
import {
  type Context,
  context,
  createContextKey,
  type Link,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import type { Span, SpanAttributes, SpanOptions, Trace, Tracing } from '../tracing.ts'
import type { TracingSettings } from '../tracing-settings.ts'
import type { Log } from './log.ts'
import { openSpanExport } from './span-export.ts'
import { makeSpanId, makeTraceId } from './trace-ids.ts'
import { readTraceContext, writeTraceContext } from './trace-context.ts'

const SPAN = createContextKey('petstore span')
const NO_ATTRIBUTES = {}
const NO_LINKS: Link[] = []
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
  /** With a later offset, a short span could end before it began. */
  readonly #clockOffset = clockOffset
  #context: Context | undefined

  constructor(tracer: Tracer, span: OtelSpan) {
    this.#tracer = tracer
    this.#span = span
  }

  /** The context of the work that belongs to this span. Most spans have no such work, and a context takes a copy of a map. */
  get context(): Context {
    this.#context ??= trace.setSpan(ROOT_CONTEXT, this.#span).setValue(SPAN, this)
    return this.#context
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
    this.#span.end(performance.now() + this.#clockOffset)
  }

  spanContext(): SpanContext {
    return this.#span.spanContext()
  }
}

/** Fails if a file with a certificate cannot be read. */
export function openTracing(settings: TracingSettings, log: Log): Tracing {
  const { tracer, sampler, ids, close } = openSpanExport(settings, log)
  const manager = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(manager)

  /**
   * Asks the sampler before the SDK does, so that a request that is not sampled creates no span. The samplers of the
   * standard need no attributes, and decide the same way again.
   */
  function start(name: string, kind: SpanKind, parent?: SpanContext): Trace {
    const parentContext = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const traceId = parent?.traceId ?? makeTraceId()
    const { decision } = sampler.shouldSample(parentContext, traceId, name, kind, NO_ATTRIBUTES, NO_LINKS)
    if (decision === SamplingDecision.NOT_RECORD) return { traceId, span: undefined }
    ids.setNext(traceId)
    const span = tracer.startSpan(name, { kind, startTime: now() }, parentContext)
    return { traceId, span: new RecordedSpan(tracer, span) }
  }

  return {
    startRequest: (name, headers) => start(name, SpanKind.SERVER, readTraceContext(headers)),
    startOutgoing: (name, attributes) => {
      const { traceId, span } = start(name, SpanKind.CLIENT)
      span?.set(attributes())
      const sent = (span as RecordedSpan | undefined)?.spanContext() ?? {
        traceId,
        spanId: makeSpanId(),
        traceFlags: TraceFlags.NONE,
      }
      return { traceId, span, headers: writeTraceContext(sent) }
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
