// A list that pages by itself: its items one by one, or its pages.
import type { CallOptions, Send } from './call.ts'
import { linkTo } from './deprecation.ts'
import { PetstoreError } from './errors.ts'
import type { Operations } from './interface.ts'

export interface Page<Item> {
  items: Item[]
  /** What to ask the next page with, as `cursor`; undefined on the last page. */
  nextCursor: string | undefined
}

/** `for await` gives each item, and asks for the next page when it is needed. */
export interface List<Item> extends AsyncIterable<Item> {
  /** One page: that of the `cursor` you gave, or the first. */
  page: () => Promise<Page<Item>>
  /** From that page to the last. */
  pages: () => AsyncIterable<Page<Item>>
}

type ListName = {
  [Name in keyof Operations]: Operations[Name]['response'] extends unknown[] ? Name : never
}[keyof Operations]
type ItemOf<Name extends ListName> = Operations[Name]['response'][number]

/** The most that the service gives at once: who walks through everything wants few requests. */
const WALK_LIMIT = 100

export function listOf<Name extends ListName>(
  send: Send,
  operation: Name,
  path: () => Operations[Name]['path'],
  query: Operations[Name]['query'] = {},
  options?: CallOptions,
): List<ItemOf<Name>> {
  async function page(asked: Operations[Name]['query'] = query): Promise<Page<ItemOf<Name>>> {
    // No id at all would otherwise be no filter, which is every animal.
    if ('id' in asked && asked.id?.length === 0) return { items: [], nextCursor: undefined }
    const call = { operation, method: 'GET', path: path(), query: asked, idempotent: true } as const
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
      for await (const { items } of pages({ ...query, limit: query.limit ?? WALK_LIMIT })) yield* items
    },
  }
}

/** Only the cursor is taken of the link: the key goes to no other address than the one it was given for. */
function nextCursor(headers: Headers): string | undefined {
  const next = linkTo('next', headers)
  if (next === undefined) return undefined
  const cursor = new URL(next, 'http://localhost').searchParams.get('cursor')
  if (cursor !== null) return cursor
  throw new PetstoreError({ code: 'unexpected_answer', message: 'The link to the next page has no cursor.' })
}
