// `petstore export --with-position`: an export and the events after its position yield the pets in the database.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sequenceEvents } from '../../src/events/feed/sequencer.ts'
import { type FeedEvent, positionOf } from '../support/event-fixture.ts'
import { type ApiFixture, openApiFixture } from '../support/api-fixture.ts'
import { parseExactly } from '../support/client.ts'
import { petstore, startPetstore } from '../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-position-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const api = await openApiFixture()
const { databaseUrl: DATABASE_URL, db } = api
const latest = async () => positionOf(await api.get('/events?after=latest'))

const PETS = 100_000
const WRITERS = 6
const EXPORTS = 3

interface MirroredPet {
  id: number | bigint
  name: string
  categoryId: number | bigint
  status: string
}

/** Creates, changes, orders and deletes pets until the signal. */
async function writeUntil(
  ended: AbortSignal,
  { addPet, patch, remove, hold, end }: ApiFixture,
): Promise<void> {
  for (let round = 0; !ended.aborted; round += 1) {
    const { id } = await addPet({ name: `New ${round}` })
    await patch(1 + ((round * 7_919) % PETS), { name: `Renamed ${round}`, status: 'sold' })
    if (round % 2 === 0) await remove(`/pets/${id}`)
    else await end(round % 3 === 0 ? 'complete' : 'cancel', (await hold({ petId: id })).id)
  }
}

async function applyEvents(mirror: Map<string, MirroredPet>, position: string): Promise<number> {
  let applied = 0
  for (let after = position; ; ) {
    const page = await api.get(`/events?after=${after}&limit=1000`)
    expect(page.status).toBe(200)
    const events = page.body as FeedEvent[]
    if (events.length === 0) return applied
    for (const { type, petId, pet } of events) {
      if (type === 'pet.deleted') mirror.delete(String(petId))
      else if (pet !== undefined) mirror.set(String(petId), pet)
    }
    applied += events.length
    after = positionOf(page)
  }
}

const sorted = (pets: Iterable<MirroredPet>) =>
  [...pets].map(({ id, name, categoryId, status }) => `${id},${name},${categoryId},${status}`).toSorted()

test('with concurrent writers, the export and the events after its position equal the database', async () => {
  await api.sql(
    `insert into pets (name, category_id) select 'Pet ' || n, n from generate_series(1, ${PETS}) n`,
  )
  const ending = new AbortController()
  const sequencing = (async () => {
    while (!ending.signal.aborted) await sequenceEvents(db)
  })()
  const writers = Array.from({ length: WRITERS }, () => writeUntil(ending.signal, api))
  const exports: { path: string; position: string }[] = []
  for (let index = 0; index < EXPORTS; index += 1) {
    const path = join(folder, `pets-${index}.ndjson`)
    const args = ['export', '--format', 'ndjson', '--output', path, '--with-position']
    const { code, stdout, stderr } = await startPetstore(args, { DATABASE_URL }).finished
    expect({ code }, stderr).toEqual({ code: 0 })
    exports.push({ path, position: stdout.trimEnd() })
  }
  ending.abort()
  await Promise.all([...writers, sequencing])
  await sequenceEvents(db)

  const rows = await api.sql(`select id, name, category_id as "categoryId", status from pets`)
  const expected = sorted(rows as unknown as MirroredPet[])
  for (const { path, position } of exports) {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const pets = lines.map((line) => parseExactly(line) as MirroredPet)
    const mirror = new Map(pets.map((pet) => [String(pet.id), pet]))
    expect(await applyEvents(mirror, position)).toBeGreaterThan(0)
    expect(sorted(mirror.values())).toEqual(expected)
  }
})

test('the position is the only output on standard output; with a file name, it is written to the file', async () => {
  await sequenceEvents(db)
  const output = join(folder, 'pets.csv')
  const printed = await petstore(['export', '--output', output, '--with-position'], { DATABASE_URL })
  expect(printed).toMatchObject({ code: 0, stdout: `${await latest()}\n` })
  const file = join(folder, 'pets.position')
  const piped = await petstore(['export', '--with-position', file], { DATABASE_URL })
  expect(piped.code).toBe(0)
  expect(piped.stdout).toBe(readFileSync(output, 'utf8'))
  expect(readFileSync(file, 'utf8')).toBe(`${await latest()}\n`)
})

test('fails without output if both the pets and the position would go to standard output', async () => {
  const failed = await petstore(['export', '--with-position'], { DATABASE_URL })
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--output FILE') })
})

test('a failed export leaves the previous position unchanged', async () => {
  const file = join(folder, 'kept.position')
  await petstore(['export', '--output', join(folder, 'kept.csv'), '--with-position', file], { DATABASE_URL })
  const before = readFileSync(file, 'utf8')
  await api.addPet()
  await sequenceEvents(db)
  const failed = await petstore(['export', '--output', join(folder, 'none/x.csv'), '--with-position', file], {
    DATABASE_URL,
  })
  expect(failed.code).toBe(1)
  expect(readFileSync(file, 'utf8')).toBe(before)
})
