// Lists with automatic paging: iterate over items or over pages.
import type { CallOptions, Send } from './call.ts'
import { linkTo } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import type { Operations } from './interface.ts'
import { LIST_PETS } from './rules.ts'

export interface Page<Item> {
  items: Item[]
  /** Pass it as `cursor` to get the next page; undefined on the last page. */
  nextCursor: string | undefined
}

/** `for await` yields each item and requests the next page when needed. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Requests one page: the page at the `cursor` of the query, or the first page if the query has no cursor. */
  page: () => Promise<Page<Item>>
  /** Iterates over the pages, from the page that `page` returns to the last page. */
  pages: () => AsyncIterable<Page<Item>>
}

/** The operations with cursors. The feed of events has positions instead. */
type ListName = {
  [Name in keyof Operations]: 'cursor' extends keyof Operations[Name]['query'] ? Name : never
}[keyof Operations]
type ItemOf<Name extends ListName> = Operations[Name]['response'][number]

/** Page size for iterating over items: the max of the service, so that few requests are needed. All lists have the same. */
const ITERATION_LIMIT = LIST_PETS.limit.maximum

export function listOf<Name extends ListName>(
  send: Send,
  operation: Name,
  path: () => Operations[Name]['path'],
  query: Operations[Name]['query'] = {},
  options?: CallOptions,
): List<ItemOf<Name>> {
  async function page(pageQuery: Operations[Name]['query'] = query): Promise<Page<ItemOf<Name>>> {
    // Without this check, an empty list of ids would mean no filter and return every pet.
    if ('id' in pageQuery && pageQuery.id?.length === 0) return { items: [], nextCursor: undefined }
    const call = { operation, method: 'GET', path: path(), query: pageQuery, idempotent: true } as const
    const { value, headers } = await send<Name>(call, options)
    return { items: value, nextCursor: nextCursor(headers) }
  }

  async function* pages(from: Operations[Name]['query'] = query) {
    for (let cursor = from.cursor, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const current = await page({ ...from, cursor })
      yield current
      cursor = current.nextCursor
    }
  }

  return {
    page: () => page(),
    pages: () => pages(),
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages({ ...query, limit: query.limit ?? ITERATION_LIMIT })) yield* items
    },
  }
}

/** Takes only the cursor from the link, so that the API key is never sent to another address. */
function nextCursor(headers: Headers): string | undefined {
  const next = linkTo('next', headers)
  if (next === undefined) return undefined
  const cursor = new URL(next, 'http://localhost').searchParams.get('cursor')
  if (cursor !== null) return cursor
  throw new PetstoreError({ code: 'unexpected_answer', message: 'The link to the next page has no cursor.' })
}
