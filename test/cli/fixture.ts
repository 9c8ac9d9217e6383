// A running service, and the commands that call it.
import { SCOPES } from '../../src/contract/scopes.ts'
import { openApiFixture, type ApiFixture } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'
import { parseExactly } from '../support/client.ts'
import {
  type FaultInjector,
  type FaultInjectorOptions,
  startFaultInjector,
} from '../support/fault-injector.ts'
import { runInProcess } from '../support/in-process.ts'
import type { Finished } from '../support/service.ts'

export interface CliFixture {
  api: ApiFixture
  environment: Record<string, string>
  run: (...args: string[]) => Promise<Finished>
  /** Parses the output of `--json`, with integers above 2^53 as bigints. Throws if the command fails. */
  json: (...args: string[]) => Promise<unknown>
}

export async function openCliFixture(apiKeyName = 'staff'): Promise<CliFixture> {
  const api = await openApiFixture()
  const { text: apiKey } = await issueApiKey(api.db, { name: apiKeyName, scopes: SCOPES })
  return cliFixtureAt(api, { PETSTORE_URL: `${api.origin}/v1`, PETSTORE_API_KEY: apiKey, TZ: 'UTC' })
}

/** The same fixture with a fault injector between the commands and the service. */
export async function behindFaultInjector(
  { api, environment }: CliFixture,
  options?: FaultInjectorOptions,
): Promise<CliFixture & { injector: FaultInjector }> {
  const injector = await startFaultInjector(api.origin, options)
  return { ...cliFixtureAt(api, { ...environment, PETSTORE_URL: `${injector.origin}/v1` }), injector }
}

function cliFixtureAt(api: ApiFixture, environment: Record<string, string>): CliFixture {
  const run = (...args: string[]) => runInProcess(args, environment)
  return {
    api,
    environment,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--json')
      if (code !== 0) throw new Error(`petstore ${args.join(' ')} exited with ${code}: ${stderr}`)
      return parseExactly(stdout)
    },
  }
}

/** The cells of a printed table. Two or more spaces separate columns. */
export function cellsOf(stdout: string): string[][] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
}
