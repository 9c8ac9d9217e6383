// Traces, as the rest of the service sees them. Everything takes `Tracing | undefined`: undefined means that tracing is off.
// Imports nothing, so that a service without tracing loads no OpenTelemetry package. src/telemetry/tracing/open-tracing.ts implements it.

export type SpanAttributes = Record<string, string | number | undefined>

export interface SpanOptions {
  /** `client`: a request to another server, such as PostgreSQL. Default: work within this process. */
  kind?: 'client'
  attributes?: SpanAttributes
  /** A value of `performance.now()`. Default: now. */
  startedAt?: number
}

/** A span that is exported when it ends. Requests that are not sampled have none. */
export interface Span {
  child: (name: string, options?: SpanOptions) => Span
  set: (attributes: SpanAttributes) => void
  /** Shows on this span that another span did part of its work. */
  linkTo: (other: Span) => void
  /** False once the span has ended. Later work must not be added to it. */
  isOpen: () => boolean
  /** With `errorType`, the span has failed. A second call has no effect. */
  end: (errorType?: string) => void
}

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
  startOutgoing: (
    name: string,
    attributes: () => SpanAttributes,
  ) => Trace & { headers: Record<string, string> }
  /** The span in whose context this code runs; undefined if there is none or it has ended. */
  active: () => Span | undefined
  /** Runs the work in the context of the span. Without a span, the work belongs to no trace. */
  run: <Result>(span: Span | undefined, work: () => Result) => Result
  /** Exports the remaining spans. Takes a limited time, even if the endpoint does not respond. */
  close: () => Promise<void>
}
