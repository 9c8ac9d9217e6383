// Limits how long the service waits for a response of PostgreSQL.
// Needed in addition to PostgreSQL's statement_timeout, which does not end a wait for synchronous replication.

/** PostgreSQL did not respond in time. It may still respond later. */
export class NoResponse extends Error {
  readonly response: Promise<unknown>

  constructor(response: Promise<unknown>, timeoutMs: number) {
    super(`PostgreSQL did not respond within ${timeoutMs} ms`)
    this.response = response
  }
}

export function withTimeout<Result>(response: Promise<Result>, timeoutMs: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    // Not negative: Node would print a warning.
    const timer = setTimeout(() => reject(new NoResponse(response, timeoutMs)), Math.max(timeoutMs, 0))
    response.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
