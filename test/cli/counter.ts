// What the tests of the commands for users share: a shop, and the executable on its counter, in a process of its own.
import { SCOPES } from '../../src/scopes.ts'
import { openShop, type Shop } from '../api/shop.ts'
import { issueApiKey } from '../support/app.ts'
import { parseExactly } from '../support/client.ts'
import { type Middle, type MiddleOptions, startMiddle } from '../support/faulty-middle.ts'
import { type Finished, petstore } from '../support/service.ts'

export interface Counter {
  shop: Shop
  environment: Record<string, string>
  run: (...args: string[]) => Promise<Finished>
  /** What `--json` prints, with integers beyond 2^53 as bigints; the command must succeed. */
  json: (...args: string[]) => Promise<unknown>
}

export async function openCounter(apiKeyName = 'counter'): Promise<Counter> {
  const shop = await openShop()
  const { text: apiKey } = await issueApiKey(shop.db, { name: apiKeyName, scopes: SCOPES })
  return counterAt(shop, { PETSTORE_URL: `${shop.origin}/v1`, PETSTORE_API_KEY: apiKey, TZ: 'UTC' })
}

/** The same, with something between the two that sees every request and may spoil it. */
export async function behindMiddle(
  { shop, environment }: Counter,
  options?: MiddleOptions,
): Promise<Counter & { middle: Middle }> {
  const middle = await startMiddle(shop.origin, options)
  return { ...counterAt(shop, { ...environment, PETSTORE_URL: `${middle.origin}/v1` }), middle }
}

function counterAt(shop: Shop, environment: Record<string, string>): Counter {
  const run = (...args: string[]) => petstore(args, environment)
  return {
    shop,
    environment,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--json')
      if (code !== 0) throw new Error(`petstore ${args.join(' ')} ended with ${code}: ${stderr}`)
      return parseExactly(stdout)
    },
  }
}

/** The cells of a printed table, which has two spaces between columns. */
export function cellsOf(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
}
