// Calls every method of the client, and finds the operation that each calls. Nothing is listed here, so a new method, or an
// operation without one, needs no change.
import { Petstore } from '../client/src/petstore.ts'

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>
}

const BASE_URL = 'http://petstore.example/v1'

/** Such as `pets.create` and `inventory`. */
export const CLIENT_METHODS: readonly string[] = Object.entries(
  new Petstore({ baseUrl: BASE_URL, apiKey: 'none' }),
).flatMap(([name, value]) =>
  typeof value === 'function' ? name : Object.keys(value as object).map((method) => `${name}.${method}`),
)

/** The requests of one call. `respond` gets the number of the attempt. */
export async function requestsOf(
  method: string,
  respond: (attempt: number) => Response,
  options: object = {},
): Promise<Request[]> {
  // Most methods have an id first. A list has a query first, and an item of a webhook has two ids.
  for (const values of [
    ['1', options, options],
    ['1', '1', options],
    [options, options],
  ]) {
    const requests: Request[] = []
    const store = new Petstore({
      baseUrl: BASE_URL,
      apiKey: 'none',
      fetch: async (url, init) => {
        requests.push(new Request(url, init))
        return respond(requests.length)
      },
    })
    // Fails after the last response, or at once if the values do not suit the method.
    await call(store, method, values).catch(() => {})
    if (requests.length > 0) return requests
  }
  throw new Error(`${method} sends no request`)
}

async function call(store: Petstore, method: string, values: unknown[]): Promise<void> {
  const [name = '', inGroup] = method.split('.')
  const value = store[name as keyof Petstore] as unknown
  const called = inGroup === undefined ? value : (value as Record<string, unknown>)[inGroup]
  const result = await (called as (...all: unknown[]) => unknown)(...values)
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result)
    await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
}

/** The id of the operation of a request. */
export function operationOf({ paths }: Document, { method, url }: Request): string {
  const path = new URL(url).pathname.slice(new URL(BASE_URL).pathname.length)
  const found = Object.entries(paths).find(
    ([pattern, verbs]) =>
      method.toLowerCase() in verbs && new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '\\d+')}$`).test(path),
  )
  const operation = found?.[1][method.toLowerCase()]
  if (operation === undefined) throw new Error(`${method} ${path} is no operation of openapi.json`)
  return operation.operationId
}

/** A response after which no call is retried. */
export const REJECTION = () =>
  Response.json({ code: 'invalid_body', message: 'No.', status: 400 }, { status: 400 })
