// When changes and reads were acknowledged, and when events were read: per second for the chart, and the longest gap since a fault began.
// All times come from one clock, performance.now().

export const SERIES = ['writes', 'reads', 'orders', 'events'] as const
export type Series = (typeof SERIES)[number]

export interface Activity {
  startedAt: number
  /** Records one acknowledged write, read or order, or one event that the follower read. */
  record: (series: Series) => void
  /** Starts a new window. Earlier gaps no longer count. */
  startWindow: () => void
  /** The longest time in the window without an acknowledgement, including a gap that is still open. */
  longestGapMs: (series: Series) => number
  lastAt: (series: Series) => number
  /** Acknowledgements in each second since the start. */
  perSecond: (series: Series) => number[]
  total: (series: Series) => number
}

interface Track {
  lastAt: number
  gapMs: number
  total: number
  perSecond: number[]
}

export function openActivity(now: () => number = () => performance.now()): Activity {
  const startedAt = now()
  const newTrack = (): Track => ({ lastAt: startedAt, gapMs: 0, total: 0, perSecond: [] })
  const tracks: Record<Series, Track> = {
    writes: newTrack(),
    reads: newTrack(),
    orders: newTrack(),
    events: newTrack(),
  }
  let windowStartedAt = startedAt
  return {
    startedAt,
    record: (series) => {
      const track = tracks[series]
      const at = now()
      track.gapMs = Math.max(track.gapMs, at - Math.max(track.lastAt, windowStartedAt))
      track.lastAt = at
      track.total += 1
      const second = Math.floor((at - startedAt) / 1000)
      while (track.perSecond.length <= second) track.perSecond.push(0)
      track.perSecond[second] = (track.perSecond[second] ?? 0) + 1
    },
    startWindow: () => {
      windowStartedAt = now()
      for (const track of Object.values(tracks)) track.gapMs = 0
    },
    longestGapMs: (series) => {
      const { gapMs, lastAt } = tracks[series]
      return Math.max(gapMs, now() - Math.max(lastAt, windowStartedAt))
    },
    lastAt: (series) => tracks[series].lastAt,
    perSecond: (series) => [...tracks[series].perSecond],
    total: (series) => tracks[series].total,
  }
}
