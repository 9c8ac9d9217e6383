// Reads and writes the headers of W3C Trace Context: traceparent and tracestate.
import { createTraceState, type SpanContext, TraceFlags } from '@opentelemetry/api'
import type { TraceHeaders } from './tracing.ts'

/** Version, trace id, span id, flags. A later version may add fields; ids of zeros and version ff are invalid. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** Max length of a tracestate that is passed on (the min that the standard requires). A longer one is dropped. */
const TRACESTATE_MAX = 512

/** Returns undefined without a valid traceparent. Then a new trace begins. */
export function readTraceContext({ traceparent, tracestate }: TraceHeaders): SpanContext | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined))
    return undefined
  const state = Array.isArray(tracestate) ? tracestate.join() : tracestate
  const isSampled = (Number.parseInt(flags ?? '', 16) & TraceFlags.SAMPLED) !== 0
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state && state.length <= TRACESTATE_MAX && { traceState: createTraceState(state) }),
  }
}

export function writeTraceContext({
  traceId,
  spanId,
  traceFlags,
  traceState,
}: SpanContext): Record<string, string> {
  const state = traceState?.serialize()
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
    ...(state && { tracestate: state }),
  }
}
