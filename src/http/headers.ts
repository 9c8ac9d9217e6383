// Headers as they were sent, before Node joins or drops duplicates.
import type { IncomingMessage } from 'node:http'

/** Counts how many times a header was sent. Faster than Node's `headersDistinct`, which processes all headers. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] as string
    if (sent.length === name.length && sent.toLowerCase() === name) count += 1
  }
  return count
}
