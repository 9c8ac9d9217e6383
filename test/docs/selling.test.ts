// docs/selling.md is true: its commands run one after the other in one shell, and answer what the page shows.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { issueApiKey } from '../support/app.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { startService } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const END_OF_ANSWER = '--- end of answer ---'
const page = readFileSync(join(ROOT, 'docs/selling.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}))
const isCommand = ({ language, text }: { language: string; text: string }) =>
  language === 'sh' && text.includes('curl ')

/** What differs from run to run: times and request ids stand for any of their kind. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"a time"')
    .replaceAll(/"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g, '"a request id"')
  return JSON.parse(text)
}

function holdMinutes({ createdAt, expiresAt }: { createdAt: string; expiresAt: string }): number {
  return (Date.parse(expiresAt) - Date.parse(createdAt)) / 60_000
}

/** A shop whose next ids are those of the page, with one more animal before Biscuit and one after. */
async function openShopOfThePage() {
  const DATABASE_URL = await createTestDatabase()
  await sql(DATABASE_URL, 'alter sequence pets_id_seq restart with 41')
  await sql(DATABASE_URL, 'alter table orders alter column id restart with 7')
  const { text: apiKey } = await issueApiKey(openTestDatabase(DATABASE_URL), { name: 'web-shop' })
  const service = await startService({ DATABASE_URL })
  const webShop = openTestClient({ origin: service.origin, apiKey })
  for (const name of ['Luna', 'Biscuit', 'Milo']) await webShop.post('/pets', { name, categoryId: 1 })
  return { service, DATABASE_URL }
}

test('each command on the page is followed by its answer', () => {
  const [setUp, ...rest] = blocks
  expect(setUp?.language).toBe('sh')
  expect(rest.length).toBeGreaterThanOrEqual(12)
  for (const [index, block] of rest.entries()) {
    expect(index % 2 === 0 ? isCommand(block) : block.language === 'json', block.text).toBe(true)
  }
})

test('one sale by the commands of the page is answered as the page says', async () => {
  const { service, DATABASE_URL } = await openShopOfThePage()
  const script = blocks
    .filter(({ language }) => language === 'sh')
    .map((block) => (isCommand(block) ? `${block.text}\nprintf '\\n${END_OF_ANSWER}\\n'\n` : block.text))
    .join('')
    .replace('http://127.0.0.1:3000', service.origin)
  const { PATH = '', HOME = '' } = process.env
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { PATH, HOME, DATABASE_URL },
    timeout: 15_000,
  })
  await service.stop()
  const given = stdout
    .split(END_OF_ANSWER)
    .slice(0, -1)
    .map((text) => JSON.parse(text) as unknown)
  const stated = blocks
    .filter(({ language }) => language === 'json')
    .map(({ text }) => JSON.parse(text) as unknown)
  expect(given.map(comparable)).toEqual(stated.map(comparable))
  expect([given[1], stated[1]].map((order) => holdMinutes(order as never))).toEqual([30, 30])
})
