// When to retry a message.

/** Retries that were due at the same moment spread over this share of the delay. */
const JITTER = 0.1

/** Max time between two attempts while a receiver fails for every pet. The first pause is as long as the first delay. */
const PROBE_SECONDS_MAX = 300

/** A webhook is disabled if every attempt has failed for this long. */
export const DISABLED_AFTER_MS = 3 * 24 * 3_600_000

export interface Schedule {
  /** Time until the next attempt of a message that has failed `attempts` times; undefined if it is given up. */
  retryMs: (attempts: number) => number | undefined
  /** Time until the next attempt of any message, after so many failures in a row. */
  probeMs: (failures: number) => number
}

/** @param retrySeconds The delay after each failed attempt. After one more attempt, a message is given up. */
export function openSchedule(retrySeconds: readonly number[], random: () => number = Math.random): Schedule {
  const spread = (seconds: number) => seconds * 1_000 * (1 + JITTER * random())
  const [first = PROBE_SECONDS_MAX] = retrySeconds
  return {
    retryMs: (attempts) => {
      const seconds = retrySeconds[attempts - 1]
      return seconds === undefined ? undefined : spread(seconds)
    },
    probeMs: (failures) => spread(Math.min(first * 2 ** Math.min(failures - 1, 20), PROBE_SECONDS_MAX)),
  }
}
