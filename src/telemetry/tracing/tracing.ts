// Traces, as the rest of the service sees them: spans of OpenTelemetry, and what starts them. Everything takes
// `Tracing | undefined`: undefined means that tracing is off. Imports only types, so that a process without tracing loads no
// OpenTelemetry package. src/telemetry/tracing/open-tracing.ts implements it.
import type { Attributes, Span, SpanKind, SpanOptions, SpanStatusCode } from '@opentelemetry/api'

export type { Attributes, Span }

/** Max spans that wait for an export, unless OTEL_BSP_MAX_QUEUE_SIZE is set. Further spans are dropped. */
export const SPANS_QUEUED_MAX = 2_048

/** The kind of a span that is a request to another server, such as PostgreSQL. */
export const CLIENT: SpanKind.CLIENT = 2
const ERROR: SpanStatusCode.ERROR = 2

/** The trace that a request belongs to. */
export interface Trace {
  traceId: string
  /** Undefined if the request is not sampled. */
  span: Span | undefined
}

/** The headers of a request. Only those of W3C Trace Context are read: `traceparent` and `tracestate`. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface Tracing {
  /** Starts the span of a request. Continues the trace of the caller if the headers are valid. */
  startRequest: (name: string, headers: TraceHeaders) => Trace
  /** Starts a trace with a request to another server. Add the headers to that request. */
  startOutgoing: (name: string, attributes: () => Attributes) => Trace & { headers: Record<string, string> }
  /** Starts a part of a span. `startTime` can be a value of `performance.now()`. */
  startChild: (parent: Span, name: string, options?: SpanOptions) => Span
  /** The span in whose context this code runs; undefined if there is none or it has ended. */
  active: () => Span | undefined
  /** Runs the work in the context of the span. Without a span, the work belongs to no trace. */
  run: <Result>(span: Span | undefined, work: () => Result) => Result
  /** Exports the remaining spans. Takes a limited time, even if the endpoint does not respond. */
  close: () => Promise<void>
}

/** Ends a span. With `errorType`, it has failed. */
export function endSpan(span: Span, errorType?: string): void {
  if (errorType !== undefined) span.setAttribute('error.type', errorType).setStatus({ code: ERROR })
  span.end()
}
