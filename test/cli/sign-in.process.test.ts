// Signing in to the service in its own process, with the settings of the environment.
import { expect, onTestFinished, test } from 'vitest'
import { DEMO_PEOPLE, startIdentityProvider } from '../../dev/identity-provider.ts'
import { freePort } from '../../src/data/demo/cluster.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'
import { startService } from '../support/service.ts'
import { finishAt, openBrowser, returnAddress, type SignInFixture, signIn } from '../support/sign-in.ts'

const databaseUrl = await createTestDatabase()

test('signs a person in with the settings of the environment; the log names no person and contains no secret', async () => {
  const [port, providerPort] = [await freePort(), await freePort()]
  const origin = `http://127.0.0.1:${port}`
  const client = { clientId: 'petstore', clientSecret: 'a secret: 5% of "all"' }
  const provider = await startIdentityProvider({
    ...client,
    port: providerPort,
    redirectUri: `${origin}/auth/callback`,
    people: DEMO_PEOPLE,
  })
  onTestFinished(() => provider.stop())
  const service = await startService({
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    PUBLIC_URL: origin,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: client.clientId,
    OIDC_CLIENT_SECRET: client.clientSecret,
    OIDC_ROLES: 'staff=shop',
  })
  onTestFinished(async () => void (await service.stop()))
  const fixture: SignInFixture = {
    origin,
    databaseUrl,
    issuer: provider.issuer,
    db: openTestDatabase(databaseUrl),
    sql: (text, values) => sql(databaseUrl, text, values),
    startProvider: async () => {},
    stopProvider: async () => {},
    startInstance: async () => origin,
  }
  expect(await (await fetch(`${origin}/auth/provider`)).json()).toMatchObject({
    provider: { name: `127.0.0.1:${providerPort}` },
  })
  const browser = openBrowser()
  const { key } = await signIn(fixture, 'sam', '', browser)
  expect((await openTestClient({ origin, apiKey: key }).get('/pets')).status).toBe(200)
  const address = await returnAddress(fixture, browser, 'vera')
  expect(await finishAt(fixture, browser, address)).toBe('/sign-in?error=no_role')

  const metrics = await (await fetch(`${service.adminOrigin}/metrics`)).text()
  expect(metrics).toContain('petstore_sign_ins_total{outcome="signed_in"} 1')
  expect(metrics).toContain('petstore_sign_ins_total{outcome="no_role"} 1')
  await expect.poll(() => service.log()).toContain('"msg":"sign-in failed"')
  const log = service.log()
  expect(log).toContain('"role":"staff","msg":"signed in"')
  expect(log).toContain('"outcome":"no_role"')
  const { searchParams } = new URL(address)
  const secrets = ['Sam Staff', 'sam@shop', 'vera', 'Vera', key.slice(14, 40), client.clientSecret]
  for (const text of [...secrets, searchParams.get('state'), searchParams.get('code')]) {
    expect(log).not.toContain(text)
  }

  const { stdout } = await runInProcess(['api-keys', 'list'], { DATABASE_URL: databaseUrl })
  expect(stdout).toMatch(/Sam Staff +person +pets:read,/)
  await sql(
    databaseUrl,
    `update api_keys set revoked_at = now() from actors where actors.id = actor_id and kind = 'person'`,
  )
  const listed = (args: string[]) =>
    runInProcess(['api-keys', 'list', ...args], { DATABASE_URL: databaseUrl })
  expect((await listed([])).stdout).not.toContain('Sam Staff')
  expect((await listed(['--all'])).stdout).toContain('Sam Staff')
})
