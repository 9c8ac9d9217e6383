// Exports that fail, take too long or are too many, and clients that stop reading. test/contract/export-pets.test.ts tests
// what an export contains.
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { revokeApiKey } from '../../src/access/api-keys/api-keys.ts'
import { watchApiKeys } from '../../src/access/api-keys/key-watch.ts'
import { AppError } from '../../src/contract/errors.ts'
import type { AppOptions } from '../../src/server/app.ts'
import { openPetExports } from '../../src/store/pet-export/exports.ts'
import { openPetTable } from '../../src/store/pets/table.ts'
import { EXAMINED_MAX } from '../../src/store/pets/queries.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'
import { openApiFixture } from '../support/api-fixture.ts'
import { issueApiKey, startApp } from '../support/app.ts'
import { openTestLog } from '../support/test-log.ts'
import { until } from '../support/until.ts'

const { db, sql } = await openApiFixture()
/** All of them are one page, of 200 KB. */
await sql(`insert into pets (name, category_id) select repeat('🐶', 490), 1 from generate_series(1, 100)`)
const PAGES_MAX = 1_000

test('an export continues after a page without a match', async () => {
  const own = await openApiFixture()
  await own.sql(
    `insert into pets (id, name, category_id) select n, 'Rex', case n when 1 then 2 else 1 end
      from generate_series(1, $1::int) n`,
    [EXAMINED_MAX + 1],
  )
  const { text: exported } = await own.get('/pet-export?word=rex&categoryId=2')
  expect(exported).toBe('id,name,categoryId,status\n1,Rex,2,available\n')
})

/**
 * A service whose every page has a next page, up to the limit of an export. `onPage` is called with the number of each page,
 * from 1, before it is returned.
 */
async function startEndless(
  onPage: (number: number) => void | Promise<void>,
  options: Partial<AppOptions> = {},
) {
  const real = openPetTable(db, true, 1, () => {})
  let pages = 0
  const petTable: typeof real = {
    ...real,
    findPage: async (query) => {
      const page = await real.findPage({ ...query, beforeId: undefined })
      await onPage((pages += 1))
      return { ...page, lastId: 1n }
    },
  }
  const { origin } = await startApp(db, { petTable, ...options })
  const { text: apiKey } = await issueApiKey(db)
  /** The response without its body: the client reads it only if the test does. */
  const open = (key = apiKey) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` }
      const request = get(`${origin}/v1/pet-export`, { headers, agent: false }, resolve).on('error', reject)
      onTestFinished(() => void request.destroy())
    })
  return { open, pagesRead: () => pages }
}

test('an export that fails is reset, so that no client takes it for complete, and is counted', async () => {
  const metrics = openMetrics(db, openTestLog())
  const failAt = (page: number) => (number: number) => {
    if (number === page) throw new AppError('unavailable')
  }
  const { open } = await startEndless(failAt(3), { metrics })
  await expect(open().then(text)).rejects.toThrow()
  await expect.poll(() => metrics.registry.metrics()).toMatch(/petstore_errors_total\{code="unavailable"\} 1/)
})

test('a failure of the first page is a normal error response (503)', async () => {
  const { open } = await startEndless(() => {
    throw new AppError('unavailable')
  })
  const response = await open()
  expect([response.statusCode, response.headers['content-disposition']]).toEqual([503, undefined])
  expect(JSON.parse(await text(response))).toMatchObject({ code: 'unavailable' })
})

test('an export that takes too long is reset', async () => {
  const { open, pagesRead } = await startEndless(() => {}, {
    petExports: openPetExports(watchApiKeys(db), { timeoutMs: 1 }),
  })
  await expect(open().then(text)).rejects.toThrow()
  expect(pagesRead()).toBeLessThan(PAGES_MAX)
})

test.each([
  ['revoked', ({ id }: { id: bigint }) => revokeApiKey(db, id)],
  ['expired', ({ id }: { id: bigint }) => sql('update api_keys set expires_at = now() where id = $1', [id])],
])(
  'an export is reset within a second of the end of its key, also while a page is read: %s',
  async (_end, end) => {
    // The timer that checks keys starts with the first export.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { promise: reading, resolve: startReading } = Promise.withResolvers<void>()
    const { open } = await startEndless(async (page) => {
      if (page < 3) return
      startReading()
      // Until the connection is closed: the reset must not wait for this page.
      await reset.promise
    })
    const reset = Promise.withResolvers<void>()
    onTestFinished(() => reset.resolve())
    const key = await issueApiKey(db)
    const exported = text(await open(key.text))
    const ending = expect(exported).rejects.toThrow('aborted')
    await reading
    await end(key)
    vi.advanceTimersByTime(999)
    await ending
  },
)

test('reads no further pages while the client does not read, and frees the place of a client that has gone', async () => {
  const { open, pagesRead } = await startEndless(() => {}, {
    petExports: openPetExports(watchApiKeys(db), { perKeyMax: 1 }),
    stalledAfterMs: 500,
  })
  expect((await open()).statusCode).toBe(200)
  // The service resets the connection of a client that reads nothing. Until then, it would have read every page.
  await until(async () => (await open()).statusCode === 200)
  expect(pagesRead()).toBeLessThan(PAGES_MAX)
})

test('limits the exports per key (429) and in total (503)', async () => {
  const { open } = await startEndless(() => {}, {
    petExports: openPetExports(watchApiKeys(db), { perKeyMax: 1, max: 2 }),
  })
  const first = await open()
  const second = await open()
  expect([second.statusCode, second.headers['retry-after']]).toEqual([429, '5'])
  const keys = await Promise.all([issueApiKey(db), issueApiKey(db)])
  const others = [await open(keys[0].text), await open(keys[1].text)]
  expect(others.map(({ statusCode }) => statusCode)).toEqual([200, 503])
  first.destroy()
  await until(async () => (await open(keys[1].text)).statusCode === 200)
})

test('on shutdown, exports have five seconds to finish', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const exports = openPetExports(watchApiKeys(db))
  const { stop } = exports.start(1n)
  exports.close()
  vi.advanceTimersByTime(4_999)
  expect(stop.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(stop.aborted).toBe(true)
})
