// A span that is recorded and exported. It implements what exporters of OpenTelemetry read, ReadableSpan, without the spans
// of the SDK: those take several times as long, because they support much that this service does not use.
import {
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { makeSpanId } from './trace-ids.ts'
import type { Span, SpanAttributes, SpanOptions } from './tracing.ts'

/** A longer attribute value is cut. Clients choose some of them, such as the path. */
const VALUE_MAX_CHARACTERS = 256
/** How often the clock of spans is compared with the clock of the host. */
const CLOCK_READ_EVERY_MS = 60_000
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET }
const FAILED: SpanStatus = { code: SpanStatusCode.ERROR }

/** What all spans of the process have in common, and where they go when they end. */
export interface SpanTarget extends Pick<ReadableSpan, 'resource' | 'instrumentationScope'> {
  onEnd: (span: ReadableSpan) => void
}

interface NewSpan {
  name: string
  kind: SpanKind
  traceId: string
  parent?: SpanContext | undefined
  /** A value of `performance.now()`. */
  startedAt: number
}

let clockOffset = 0
let clockReadAt = Number.NEGATIVE_INFINITY

/** Added to a value of `performance.now()`, gives milliseconds since 1970 with fractions. */
function clockOffsetAt(performanceNow: number): number {
  if (performanceNow - clockReadAt > CLOCK_READ_EVERY_MS) {
    clockOffset = Date.now() - performance.now()
    clockReadAt = performanceNow
  }
  return clockOffset
}

export class RecordedSpan implements Span, ReadableSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly parentSpanContext?: SpanContext
  readonly attributes: Attributes = {}
  readonly links: Link[] = []
  readonly events = []
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  status = UNSET
  ended = false
  readonly #target: SpanTarget
  readonly #context: SpanContext
  readonly #startedAt: number
  /** Read once: with a later offset, a short span could end before it began. */
  readonly #clockOffset: number
  #endedAt = 0

  constructor(target: SpanTarget, { name, kind, traceId, parent, startedAt }: NewSpan) {
    this.#target = target
    this.name = name
    this.kind = kind
    const traceFlags = TraceFlags.SAMPLED
    this.#context = { traceId, spanId: makeSpanId(), traceFlags }
    if (parent !== undefined) {
      this.parentSpanContext = parent
      if (parent.traceState !== undefined) this.#context.traceState = parent.traceState
    }
    this.#clockOffset = clockOffsetAt(startedAt)
    this.#startedAt = startedAt
  }

  get resource() {
    return this.#target.resource
  }

  get instrumentationScope() {
    return this.#target.instrumentationScope
  }

  get startTime(): HrTime {
    return toHrTime(this.#startedAt + this.#clockOffset)
  }

  get endTime(): HrTime {
    return toHrTime(this.#endedAt + this.#clockOffset)
  }

  get duration(): HrTime {
    return toHrTime(this.#endedAt - this.#startedAt)
  }

  spanContext(): SpanContext {
    return this.#context
  }

  child(name: string, { kind, attributes, startedAt }: SpanOptions = {}): RecordedSpan {
    const span = new RecordedSpan(this.#target, {
      name,
      kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      traceId: this.#context.traceId,
      parent: this.#context,
      startedAt: startedAt ?? performance.now(),
    })
    if (attributes !== undefined) span.set(attributes)
    return span
  }

  set(attributes: SpanAttributes): void {
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined) continue
      this.attributes[key] = typeof value === 'string' ? value.slice(0, VALUE_MAX_CHARACTERS) : value
    }
  }

  linkTo(other: Span): void {
    if (!this.ended) this.links.push({ context: (other as RecordedSpan).spanContext() })
  }

  isOpen(): boolean {
    return !this.ended
  }

  end(errorType?: string): void {
    if (this.ended) return
    this.#endedAt = performance.now()
    if (errorType !== undefined) {
      this.set({ 'error.type': errorType })
      this.status = FAILED
    }
    this.ended = true
    this.#target.onEnd(this)
  }
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)]
}
