// `petstore events`: commands for the event feed.
import { expect, test } from 'vitest'
import { findFeedState } from '../../src/events/feed/queries.ts'
import { createTestDatabase, openTestDatabase } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'

const DATABASE_URL = await createTestDatabase()
const db = openTestDatabase(DATABASE_URL)

test('new-epoch starts a new epoch and prints only its name to standard output', async () => {
  const before = await findFeedState(db)
  const { code, stdout, stderr } = await runInProcess(['events', 'new-epoch'], { DATABASE_URL })
  const after = await findFeedState(db)
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${after.epoch}\n` })
  expect(stderr).toBe('All earlier positions are invalid. The new epoch:\n')
  expect(after.epoch).not.toBe(before.epoch)
})

test('new-epoch --json prints an object', async () => {
  const { code, stdout } = await runInProcess(['events', 'new-epoch', '--json'], { DATABASE_URL })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ epoch: (await findFeedState(db)).epoch })
})

test('new-epoch fails if the schema is out of date, and names the next step', async () => {
  const empty = { DATABASE_URL: await createTestDatabase('empty') }
  const { code, stdout, stderr } = await runInProcess(['events', 'new-epoch'], empty)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('Run: petstore doctor')
})

test('new-epoch --help says when to run it', async () => {
  const { stdout } = await runInProcess(['events', 'new-epoch', '--help'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'after you have restored a backup, before the service starts',
  )
})
