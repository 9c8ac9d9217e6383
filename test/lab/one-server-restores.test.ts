// What the restores of `npm run drill -- production --restores` must contain, without a server.
import { describe, expect, test } from 'vitest'
import { endOfArchive } from '../../lab/one-server/psql-session.ts'
import { checkEarlier, firstCreated, splitJournal } from '../../lab/one-server/restores.ts'
import type { PetRow } from '../../lab/parts/store-rows.ts'
import { expectationOf, Journal } from '../../lab/restore/journal.ts'

const petOf = (name: string, id = 1): PetRow => ({ id, name, categoryId: 1, status: 'available', version: 1 })
const change = (sentAt: number, acknowledgedAt?: number) => ({
  id: undefined,
  sentAt,
  acknowledgedAt,
  rejected: false,
})

function journalOf(pets: Record<string, ReturnType<typeof change>>): Journal {
  const journal = new Journal()
  for (const [name, pet] of Object.entries(pets)) journal.pets.set(name, pet)
  return journal
}

describe('endOfArchive', () => {
  const positions = [
    { text: '000000010000000000000004', from: 0, until: 2 },
    { text: '000000010000000000000005', from: 10, until: 12 },
    { text: '000000010000000000000005', from: 20, until: 22 },
    { text: '000000010000000000000006', from: 30, until: 32 },
    { text: '000000010000000000000006', from: 40, until: 42 },
  ]
  const end = endOfArchive('000000010000000000000005', positions)

  test('requires a pet that was acknowledged before the segment was last seen', () => {
    expect(expectationOf(change(18, 19), end)).toBe('present')
    expect(expectationOf(change(18, 21), end)).toBe('possible')
  })

  test('excludes a pet that was sent after a later segment was first seen', () => {
    expect(expectationOf(change(31, 33), end)).toBe('possible')
    expect(expectationOf(change(33, 34), end)).toBe('absent')
  })

  test('excludes nothing if no later segment was seen, and requires that the segment was seen', () => {
    const newest = endOfArchive('000000010000000000000006', positions)
    expect(expectationOf(change(99, 100), newest)).toBe('possible')
    expect(() => endOfArchive('000000010000000000000003', positions)).toThrow('was not seen')
  })
})

test('splits the journal at the start of the restore', () => {
  const { before, after } = splitJournal(journalOf({ a: change(1), b: change(5), c: change(6) }), 5)
  expect([...before.pets.keys()]).toEqual(['a'])
  expect([...after.pets.keys()]).toEqual(['b', 'c'])
})

describe('firstCreated', () => {
  test('ignores pets that the lost database acknowledged', () => {
    const journal = journalOf({
      lost: change(1, 2),
      first: change(8, 10),
      failed: change(9),
      next: change(11, 12),
    })
    expect(firstCreated(journal, [petOf('first'), petOf('next', 2)])).toBe(10)
  })

  test('throws an error if the restored service created no pet, or lost one', () => {
    const journal = journalOf({ first: change(8, 10), next: change(11, 12) })
    expect(() => firstCreated(journal, [])).toThrow('created no pet')
    expect(() => firstCreated(journal, [petOf('first')])).toThrow('1 pets created after the restore are lost')
  })
})

test('finds pets of before the load that are missing, added or changed', () => {
  const earlier = [petOf('a', 1), petOf('b', 2)]
  const check = (restored: PetRow[]) => () => checkEarlier(earlier, restored, 'round-1-')
  expect(check([petOf('b', 2), petOf('a', 1), petOf('round-1-u0.1', 3)])).not.toThrow()
  for (const wrong of [[petOf('a', 1)], [...earlier, petOf('c', 3)], [petOf('a', 1), petOf('x', 2)]])
    expect(check(wrong)).toThrow('existed before the load')
})
