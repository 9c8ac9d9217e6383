// When to retry a message.

/** Each delay is longer by a random share of up to this, so that messages that failed together are retried apart. */
const JITTER = 0.1

/** Max delay between two probes of a receiver that is down, before the jitter. */
const PROBE_SECONDS_MAX = 300

/** A webhook is disabled if every attempt has failed for this long. */
export const DISABLED_AFTER_MS = 3 * 24 * 3_600_000

export interface Schedule {
  /** Time until the next attempt of a message that has failed `attempts` times; undefined if it is given up. */
  retryMs: (attempts: number) => number | undefined
  /** Time until the next attempt of any message to a receiver that is down, after so many failed ones. */
  probeMs: (failures: number) => number
}

/** @param retrySeconds The delay after each failed attempt. After one more attempt, a message is given up. */
export function openSchedule(retrySeconds: readonly number[], random: () => number = Math.random): Schedule {
  const spread = (seconds: number) => seconds * 1_000 * (1 + JITTER * random())
  const [firstProbeSeconds = PROBE_SECONDS_MAX] = retrySeconds
  return {
    retryMs: (attempts) => {
      const seconds = retrySeconds[attempts - 1]
      return seconds === undefined ? undefined : spread(seconds)
    },
    probeMs: (failures) => {
      // Doubles with each failure. After 20 doublings, even one second has long reached the max.
      const doublings = Math.min(failures - 1, 20)
      return spread(Math.min(firstProbeSeconds * 2 ** doublings, PROBE_SECONDS_MAX))
    },
  }
}
