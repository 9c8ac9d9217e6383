// What the till reads: totals, entries and closings of the ledger.
import type { Entry, Page, Petstore, Totals } from '@petstore/client'
import { LIST_ENTRIES } from '@petstore/client/rules'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ExplainedError } from '../layout/describe-error.ts'
import { readPets } from '../pets/queries.ts'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'
import type { TillTotals } from './day-totals.ts'
import { type CsvContext, entriesCsv } from './entries-csv.ts'
import type { DayRange, TillSearch } from './range.ts'

const PAGE_SIZE = 50
/** The max of the service for one request. */
const EXPORT_PAGE_SIZE = LIST_ENTRIES.limit.maximum
/** More rows would take minutes, and fill the memory of a phone. */
const EXPORTED_MAX = 50_000
const CLOSINGS = 30
/** Cash that other people put in or take out has no event. A page that stays open also shows the new day after midnight. */
const EVERY_MS = 60_000

export function tillTotalsQuery(store: Petstore, { from, to }: TillSearch) {
  return queryOptions({
    queryKey: KEYS.tillTotals({ from, to }),
    queryFn: async ({ signal }): Promise<TillTotals> => {
      const [kind, method, category, seller] = await Promise.all(
        (['kind', 'method', 'category', 'seller'] as const).map((by) =>
          store.till.totals({ from, to, by }, { signal }),
        ),
      )
      const { totals: sums, ...rest } = kind as Totals
      return {
        ...rest,
        sums,
        byKind: kind?.groups ?? [],
        byMethod: method?.groups ?? [],
        byCategory: category?.groups ?? [],
        bySeller: seller?.groups ?? [],
      }
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshEvery(EVERY_MS),
  })
}

/** The expected cash at the end of a day, with what came and went since the last closing. */
export function drawerQuery(store: Petstore, range: TillSearch) {
  return queryOptions({
    queryKey: KEYS.tillDrawer(range),
    queryFn: ({ signal }) => store.till.totals({ ...range, by: 'method' }, { signal }),
    staleTime: 0,
  })
}

/** Entries of these days, newest first. */
export function entriesQuery(store: Petstore, { from, to }: DayRange) {
  return infiniteQueryOptions({
    queryKey: KEYS.tillEntries({ from, to }),
    queryFn: ({ pageParam: cursor, signal }): Promise<Page<Entry>> =>
      store.till.entries({ from, to, limit: PAGE_SIZE, cursor }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshEvery(EVERY_MS),
  })
}

/** The last closed days. */
export function closingsQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.closings,
    queryFn: async ({ signal }) => (await store.till.closings({ limit: CLOSINGS }, { signal }).page()).items,
  })
}

/** The entries of the range as a CSV file. */
export async function readEntriesCsv(
  store: Petstore,
  range: DayRange,
  context: Omit<CsvContext, 'pets'>,
): Promise<string> {
  const entries: Entry[] = []
  for await (const entry of store.till.entries({ ...range, limit: EXPORT_PAGE_SIZE })) {
    if (entries.length === EXPORTED_MAX)
      throw new ExplainedError(
        'Too many entries',
        `A file has at most ${EXPORTED_MAX} entries. Choose fewer days.`,
      )
    entries.push(entry)
  }
  const pets = await readPets(store, [...new Set(entries.flatMap(({ petId }) => petId ?? []))])
  return entriesCsv(entries, { ...context, pets })
}
