// Shared by the client tests: an API fixture, a client connected to it, and a client behind a fault injector.
import { Petstore, PetstoreError, type PetstoreOptions } from '@petstore/client'
import { SCOPES } from '../../src/contract/scopes.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { openApiFixture, type ApiFixture } from './api-fixture.ts'
import { issueApiKey } from './app.ts'
import { fetchUnlessBusy, reportBusyRetries } from './client.ts'
import { type FaultInjector, startFaultInjector } from './fault-injector.ts'

export interface ClientFixture {
  api: ApiFixture
  apiKey: string
  store: Petstore
  /** Opens another client of the same service, with other options. */
  open: (choices?: Partial<PetstoreOptions>) => Petstore
}

/** On a slow host, neither the client gives up nor does the service reject: only the faults of a test count as failures. */
const FOR_SLOW_HOSTS = { timeoutMs: Infinity, deadlineMs: Infinity, fetch: fetchUnlessBusy }

export async function openClientFixture(choices: Partial<AppOptions> = {}): Promise<ClientFixture> {
  const api = await openApiFixture(choices)
  const { text: apiKey } = await issueApiKey(api.db, { name: 'client', scopes: SCOPES })
  const open = (other: Partial<PetstoreOptions> = {}) =>
    new Petstore({
      baseUrl: `${api.origin}/v1`,
      apiKey,
      onDeprecated: () => {},
      ...FOR_SLOW_HOSTS,
      ...other,
    })
  reportBusyRetries()
  return { api, apiKey, store: open(), open }
}

/** A client that connects through its own fault injector. */
export async function behindFaultInjector(
  { api, open }: ClientFixture,
  choices: Partial<PetstoreOptions> = {},
): Promise<{ store: Petstore; injector: FaultInjector }> {
  const injector = await startFaultInjector(api.origin, { fetch: fetchUnlessBusy })
  return { injector, store: open({ baseUrl: `${injector.origin}/v1`, fetch, ...choices }) }
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<PetstoreError> {
  const error = await call.then(
    () => new Error('the call succeeded'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof PetstoreError) return error
  throw error
}
