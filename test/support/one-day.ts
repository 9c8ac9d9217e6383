// For tests of figures per day: a day may end between a change and the request that counts it.

/** The day in a time zone, such as 2026-11-15: from Node instead of PostgreSQL. */
export function dayIn(timeZone: string, time = new Date()): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(time)
}

/** Does the work again if a day ended meanwhile, in one of the time zones or in UTC, whether or not the work failed. */
export async function onOneDay<Result>(work: () => Promise<Result>, ...timeZones: string[]): Promise<Result> {
  const days = () => ['UTC', ...timeZones].map((timeZone) => dayIn(timeZone)).join()
  for (;;) {
    const before = days()
    try {
      const result = await work()
      if (days() === before) return result
    } catch (error) {
      if (days() === before) throw error
    }
  }
}
