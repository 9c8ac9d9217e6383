// What the tests of the commands for users share: a shop, and the executable on its counter, in a process of its own.
import { SCOPES } from '../../src/scopes.ts'
import { openApiFixture, type ApiFixture } from '../api/fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { parseExactly } from '../support/client.ts'
import {
  type FaultInjector,
  type FaultInjectorOptions,
  startFaultInjector,
} from '../support/fault-injector.ts'
import { type Finished, petstore } from '../support/service.ts'

export interface CliFixture {
  api: ApiFixture
  environment: Record<string, string>
  run: (...args: string[]) => Promise<Finished>
  /** What `--json` prints, with integers beyond 2^53 as bigints; the command must succeed. */
  json: (...args: string[]) => Promise<unknown>
}

export async function openCliFixture(apiKeyName = 'counter'): Promise<CliFixture> {
  const api = await openApiFixture()
  const { text: apiKey } = await issueApiKey(api.db, { name: apiKeyName, scopes: SCOPES })
  return cliFixtureAt(api, { PETSTORE_URL: `${api.origin}/v1`, PETSTORE_API_KEY: apiKey, TZ: 'UTC' })
}

/** The same, with something between the two that sees every request and may spoil it. */
export async function behindFaultInjector(
  { api, environment }: CliFixture,
  options?: FaultInjectorOptions,
): Promise<CliFixture & { injector: FaultInjector }> {
  const injector = await startFaultInjector(api.origin, options)
  return { ...cliFixtureAt(api, { ...environment, PETSTORE_URL: `${injector.origin}/v1` }), injector }
}

function cliFixtureAt(api: ApiFixture, environment: Record<string, string>): CliFixture {
  const run = (...args: string[]) => petstore(args, environment)
  return {
    api,
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
