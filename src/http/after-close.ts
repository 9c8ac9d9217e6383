import type { ServerResponse } from 'node:http'

/** Calls `release` when the response closes. If it has closed before, `close` does not come any more, so calls it at once. */
export function afterClose(response: ServerResponse, release: () => void): void {
  if (response.closed) return release()
  response.once('close', release)
}
