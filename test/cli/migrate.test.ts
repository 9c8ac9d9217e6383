import { expect, test } from 'vitest'
import { createTestDatabase, sql } from '../support/database.ts'
import { startExport } from '../support/long-export.ts'
import { makeNextVersion, NEXT_MIGRATION } from '../support/next-version.ts'
import { asOwner } from '../support/roles.ts'
import { petstore, shell } from '../support/service.ts'

const NEXT = makeNextVersion('alter table pets add column chip text;')

test('migrate fails after --lock-wait, names the session that holds the lock, and changes nothing', async () => {
  const databaseUrl = await createTestDatabase()
  const running = await startExport(databaseUrl)
  const environment = { DATABASE_URL: databaseUrl, MIGRATION_DATABASE_URL: asOwner(databaseUrl) }
  const { code, stderr } = await petstore(['migrate', '--lock-wait', '1'], environment, NEXT)
  expect(code).toBe(1)
  expect(stderr).toContain(`${NEXT_MIGRATION} was not run`)
  expect(stderr).toContain(`pid ${running.pid} (application petstore-export, role petstore_app)`)
  const columns = await sql(
    databaseUrl,
    `select from information_schema.columns where table_name = 'pets' and column_name = 'chip'`,
  )
  expect(columns).toEqual([])
  await running.end()
  expect(await petstore(['migrate'], environment, NEXT)).toMatchObject({ code: 0 })
})

test('migrate finishes its work if the reader of its messages closes the pipe', async () => {
  const databaseUrl = await createTestDatabase('empty')
  const line = 'petstore migrate 2>&1 | true; echo "${PIPESTATUS[0]}"'
  expect(await shell(line, { DATABASE_URL: asOwner(databaseUrl) })).toMatchObject({
    stdout: '0\n',
    stderr: '',
  })
  expect(await petstore(['migrate'], { DATABASE_URL: asOwner(databaseUrl) })).toMatchObject({
    stderr: 'The schema is up to date.\n',
  })
})
