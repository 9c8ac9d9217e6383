// The spans of batches. Each request has a span for its wait. The batch is one span in the trace of its first request; the
// other requests have a link to it.
import { endSpan, type Span, type Tracing } from '../telemetry/tracing/tracing.ts'
import { errorTypeOf } from './connection/error-type.ts'

export interface BatchTrace {
  tracing: Tracing
  /** What the batch does, such as `insertPet`. */
  name: string
}

/** Undefined if tracing is off. */
export function batchTrace(tracing: Tracing | undefined, name: string): BatchTrace | undefined {
  return tracing && { tracing, name }
}

/** The spans of a request that waits for a batch. */
export interface QueuedSpan {
  request: Span
  wait: Span
}

/** Undefined if the request is not sampled. */
export function startWait({ tracing }: BatchTrace): QueuedSpan | undefined {
  const request = tracing.active()
  return request && { request, wait: tracing.startChild(request, 'wait for batch') }
}

/** Runs the work of a batch. It belongs to no trace if no request is sampled, whatever request happens to start it. */
export async function runInBatchSpan<Result>(
  { tracing, name }: BatchTrace,
  requests: readonly { span: QueuedSpan | undefined }[],
  work: () => Promise<Result>,
): Promise<Result> {
  const sampled = requests.flatMap(({ span }) => span ?? [])
  // Items that are retried alone have waited already.
  for (const { wait } of sampled) if (wait.isRecording()) wait.end()
  const [first, ...others] = sampled
  if (first === undefined) return tracing.run(undefined, work)
  const batch = tracing.startChild(first.request, `batch ${name}`, {
    attributes: { 'petstore.batch.size': requests.length },
  })
  // A request whose client has closed the connection has ended.
  for (const { request } of others)
    if (request.isRecording()) request.addLink({ context: batch.spanContext() })
  try {
    const result = await tracing.run(batch, work)
    endSpan(batch)
    return result
  } catch (error) {
    endSpan(batch, errorTypeOf(error))
    throw error
  }
}
