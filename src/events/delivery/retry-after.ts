// Reads the header Retry-After of a receiver.

/** Max pause that a receiver can ask for. Longer ones are shortened to this. */
const RETRY_AFTER_MAX_SECONDS = 3_600

const HTTP_DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The header is a number of seconds or an HTTP date. Returns undefined for anything else; 0 for a date in the past. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_MAX_SECONDS)
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(date)) return undefined
  return Math.min(Math.max(Math.ceil((date - now) / 1_000), 0), RETRY_AFTER_MAX_SECONDS)
}
