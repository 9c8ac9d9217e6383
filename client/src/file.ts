// Reads a file that the service sends, such as an export.
import { failureOf, TIMER_MS_MAX } from './attempt.ts'
import { PetstoreError } from './errors.ts'

export interface FileOptions {
  /** Max time without a byte. The time in which the caller does not read does not count. */
  timeoutMs: number
  signal: AbortSignal | undefined
}

/**
 * Yields the bytes of the file. Fails if the connection is lost before its end, so that a file is complete if the iteration
 * ends without an error. Closes the connection when the caller stops reading.
 */
export async function* readBytes(
  { body, headers }: Response,
  { timeoutMs, signal }: FileOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const close = () => void reader.cancel().catch(() => {})
  let timedOutMs: number | undefined
  const onTimeout = () => {
    timedOutMs = timeoutMs
    close()
  }
  const read = () => {
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, TIMER_MS_MAX))
    return reader.read().finally(() => clearTimeout(timer))
  }
  signal?.addEventListener('abort', close)
  try {
    for (;;) {
      const { done, value } = await read()
      // A reader that is closed reports the end of the file.
      if (signal?.aborted || timedOutMs !== undefined) throw new Error('The file is not complete.')
      if (done) return
      yield value
    }
  } catch (cause) {
    const requestId = headers.get('x-request-id') ?? undefined
    throw new PetstoreError(failureOf(cause, { requestId, signal, timedOutMs }))
  } finally {
    signal?.removeEventListener('abort', close)
    close()
  }
}
