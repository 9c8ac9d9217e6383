// What the tests of the client share: a shop of their own, the client on it, and the client behind a faulty middle.
import { SCOPES } from '../../src/scopes.ts'
import { Petstore, PetstoreError, type PetstoreOptions } from '../../client/src/petstore.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { openShop, type Shop } from '../api/shop.ts'
import { issueApiKey } from '../support/app.ts'
import { type Middle, startMiddle } from '../support/faulty-middle.ts'

export interface ClientShop {
  shop: Shop
  apiKey: string
  store: Petstore
  /** Another client of the same shop, with choices of its own. */
  open: (choices?: Partial<PetstoreOptions>) => Petstore
}

export async function openClientShop(choices: Partial<AppOptions> = {}): Promise<ClientShop> {
  const shop = await openShop(choices)
  const { text: apiKey } = await issueApiKey(shop.db, { name: 'client', scopes: SCOPES })
  const open = (other: Partial<PetstoreOptions> = {}) =>
    new Petstore({ baseUrl: `${shop.origin}/v1`, apiKey, onDeprecated: () => {}, ...other })
  return { shop, apiKey, store: open(), open }
}

/** The client with a middle of its own before it. */
export async function behindMiddle(
  { shop, open }: ClientShop,
  choices: Partial<PetstoreOptions> = {},
): Promise<{ store: Petstore; middle: Middle }> {
  const middle = await startMiddle(shop.origin)
  return { middle, store: open({ baseUrl: `${middle.origin}/v1`, ...choices }) }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The error that a call must end with. */
export async function errorOf(call: Promise<unknown>): Promise<PetstoreError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof PetstoreError) return error
  throw error
}
