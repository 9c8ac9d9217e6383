import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, sql } from '../support/database.ts'
import { petstore, startService } from '../support/service.ts'

interface Finding {
  check: string
  state: string
  message: string
  remedy?: string
}

async function examine(
  environment: Record<string, string>,
): Promise<{ code: number | null; found: Finding[] }> {
  const { code, stdout } = await petstore(['doctor', '--json'], environment)
  return { code, found: JSON.parse(stdout) as Finding[] }
}

test('a sound installation: every check is ok, and the exit code is 0', async () => {
  const { code, found } = await examine({ DATABASE_URL: await createTestDatabase() })
  expect(code).toBe(0)
  expect(found.map(({ check }) => check)).toEqual(['configuration', 'database', 'schema', 'rights', 'clock'])
  expect(found.filter(({ state }) => state === 'fault')).toEqual([])
})

test('a wrong configuration: each fault by name', async () => {
  const { code, found } = await examine({ PORT: 'x' })
  expect(code).toBe(1)
  expect(found.map(({ message }) => message.split(' ')[0])).toEqual(['DATABASE_URL', 'PORT'])
})

test('no database there: says so, and what to look at', async () => {
  const { code, found } = await examine({ DATABASE_URL: 'postgres://petstore@127.0.0.1:1/none' })
  expect(code).toBe(1)
  expect(found.at(-1)).toMatchObject({ check: 'database', state: 'fault' })
  expect(found.at(-1)?.remedy).toContain('DATABASE_URL')
})

test('an empty database: says to migrate', async () => {
  const { code, found } = await examine({ DATABASE_URL: await createTestDatabase('empty') })
  expect(code).toBe(1)
  expect(found.find(({ check }) => check === 'schema')?.remedy).toBe('Run: petstore migrate')
})

test('deploy/roles.sql makes a role that serves requests and cannot change the schema', async () => {
  const adminUrl = await createTestDatabase('empty')
  const roles = join(import.meta.dirname, '../../deploy/roles.sql')
  const run = () =>
    execFileSync('psql', [adminUrl, '-q', '-v', 'migrator_password=m', '-v', 'app_password=a', '-f', roles])
  run()
  const as = (role: string) => adminUrl.replace('postgres@', `${role}:x@`)
  const environment = {
    DATABASE_URL: as('petstore_app'),
    MIGRATION_DATABASE_URL: as('petstore_migrator'),
  }
  const service = await startService(environment, { args: ['serve', '--migrate'] })
  run()
  const { code, found } = await examine(environment)
  expect(code).toBe(0)
  expect(found.find(({ check }) => check === 'rights')?.message).toContain('and not change the schema')

  const { stdout } = await petstore(['api-keys', 'create', '--name', 'x'], environment)
  const client = openTestClient({ origin: service.origin, apiKey: stdout.trim() })
  const created = await client.post('/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'one' })
  expect(created.status).toBe(201)
  expect((await client.get('/pets')).status).toBe(200)
  await service.stop()

  for (const change of [
    'create table x ()',
    'drop table pets',
    'truncate pets',
    'alter table pets add x int',
  ]) {
    await expect(sql(as('petstore_app'), change)).rejects.toThrow(/permission denied|must be owner/)
  }
})
