// deploy/passwords.sql, run by psql as in compose.yaml.
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createTestDatabase, sql } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const databaseUrl = await createTestDatabase()

function setPasswords(passwords: Record<string, string | undefined>) {
  const { PATH = '' } = process.env
  return spawnSync(
    'psql',
    [asSuperuser(databaseUrl), '-v', 'ON_ERROR_STOP=1', '-f', join(ROOT, 'deploy/passwords.sql')],
    { env: { PATH, ...passwords }, encoding: 'utf8' },
  )
}

const kept = () =>
  sql<{ rolname: string; rolpassword: string | null }>(
    databaseUrl,
    `select rolname, rolpassword from pg_authid where rolname like 'petstore%' order by rolname`,
  )

test('sets the passwords of the roles of the service from the environment, with any characters', async () => {
  const { status, stdout, stderr } = setPasswords({
    PETSTORE_APP_PASSWORD: `it's; "a" \\ %`,
    PETSTORE_DELIVER_PASSWORD: 'third',
    PETSTORE_MIGRATOR_PASSWORD: 'another',
  })
  expect(status, stderr).toBe(0)
  expect(stdout + stderr).not.toContain('another')
  expect(await kept()).toEqual([
    { rolname: 'petstore_app', rolpassword: expect.stringContaining('SCRAM-SHA-256$') },
    { rolname: 'petstore_deliver', rolpassword: expect.stringContaining('SCRAM-SHA-256$') },
    { rolname: 'petstore_migrator', rolpassword: expect.stringContaining('SCRAM-SHA-256$') },
    // Optional, so the file does not set it.
    { rolname: 'petstore_verify', rolpassword: null },
  ])
})

test('sets the password of petstore_verify only if it is in the environment', async () => {
  const passwords = {
    PETSTORE_APP_PASSWORD: 'one',
    PETSTORE_DELIVER_PASSWORD: 'two',
    PETSTORE_MIGRATOR_PASSWORD: 'three',
    PETSTORE_VERIFY_PASSWORD: 'four',
  }
  const { status, stderr } = setPasswords(passwords)
  expect(status, stderr).toBe(0)
  const [, , , verify] = await kept()
  expect(verify).toEqual({
    rolname: 'petstore_verify',
    rolpassword: expect.stringContaining('SCRAM-SHA-256$'),
  })
})

test.each(['PETSTORE_APP_PASSWORD', 'PETSTORE_DELIVER_PASSWORD', 'PETSTORE_MIGRATOR_PASSWORD'])(
  'fails and changes no password if %s is missing',
  async (missing) => {
    const before = await kept()
    const passwords = {
      PETSTORE_APP_PASSWORD: 'new',
      PETSTORE_DELIVER_PASSWORD: 'new',
      PETSTORE_MIGRATOR_PASSWORD: 'new',
    }
    const { status } = setPasswords({ ...passwords, [missing]: undefined })
    expect(status).not.toBe(0)
    expect(await kept()).toEqual(before)
  },
)
