import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { runInProcess } from '../support/in-process.ts'
import { startPetstore } from '../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-demo-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const demoFolders = () => readdirSync(tmpdir()).filter((name) => /^petstore-demo-(?!test)/.test(name))

test('`demo` serves demo pets, and stops PostgreSQL and deletes its data on SIGINT', async () => {
  const before = demoFolders()
  const demo = startPetstore(['demo'], { PORT: '0' })
  const printed = () => demo.printed().stdout
  await expect.poll(printed).toContain('API key')
  const created = demoFolders().find((name) => !before.includes(name)) ?? ''
  expect(existsSync(join(tmpdir(), created, 'PG_VERSION'))).toBe(true)
  const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+(?=\/\n)/.exec(printed()) ?? []
  const [apiKey = ''] = /petstore_test_\S+/.exec(printed()) ?? []
  const client = openTestClient({ origin, apiKey })
  expect(await client.get('/pets?limit=1')).toMatchObject({ status: 200, body: [{ id: 500 }] })
  demo.kill('SIGINT')
  expect(await demo.finished).toMatchObject({ code: 0, stderr: expect.not.stringContaining('rror') })
  expect(existsSync(join(tmpdir(), created))).toBe(false)
  await expect(fetch(`${origin}/v1/pets`)).rejects.toThrow('fetch failed')
})

test('`demo` with a folder without PostgreSQL fails, and leaves no data', async () => {
  const before = demoFolders()
  const { code, stderr } = await runInProcess(['demo', '--postgres', folder])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('initdb failed') })
  expect(demoFolders()).toEqual(before)
})
