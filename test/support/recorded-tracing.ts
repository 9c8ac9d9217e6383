// Tracing that keeps its spans in memory. All code runs in the context of the span `request`.
import type { Span, SpanAttributes, SpanOptions, Tracing } from '../../src/telemetry/tracing/tracing.ts'

export interface RecordedSpan extends Span {
  name: string
  attributes: SpanAttributes
  startedAt: number
  errorType: string | undefined
  children: RecordedSpan[]
}

export function recordTracing(): { tracing: Tracing; request: RecordedSpan } {
  const request = record('request')
  const unused = () => {
    throw new Error('not used in this test')
  }
  const tracing: Tracing = {
    active: () => request,
    run: (_span, work) => work(),
    startRequest: unused,
    startOutgoing: unused,
    close: async () => {},
  }
  return { tracing, request }
}

function record(
  name: string,
  { attributes = {}, startedAt = performance.now() }: SpanOptions = {},
): RecordedSpan {
  let isOpen = true
  const span: RecordedSpan = {
    name,
    attributes,
    startedAt,
    errorType: undefined,
    children: [],
    child: (childName, options) => {
      const child = record(childName, options)
      span.children.push(child)
      return child
    },
    set: (more) => {
      Object.assign(span.attributes, more)
    },
    linkTo: () => {},
    isOpen: () => isOpen,
    end: (errorType) => {
      isOpen = false
      span.errorType = errorType
    },
  }
  return span
}
