// What an administrator has changed and not saved, beside what another one has saved meanwhile.
import type { VersionedSettings } from '@petstore/client'
import { expect, test } from 'vitest'
import { currencies, currencyText, timeZones, timeZoneText } from '../../console/src/settings/choices.ts'
import { changeOf, edited, labelsText, rebased, savedByOthers } from '../../console/src/settings/draft.ts'

const SETTINGS: VersionedSettings = {
  name: 'Paw',
  address: 'Ackerhof 7',
  receiptText: '',
  isTaxInvoice: false,
  currency: 'EUR',
  currencyDecimals: 2,
  timeZone: 'Europe/Berlin',
  updatedAt: '2026-11-19T10:00:00.000Z',
  etag: '"1"',
}
const THEIRS = { ...SETTINGS, name: 'Theirs', address: 'Theirs 1', etag: '"2"' }

test('a draft has only what differs, and ends when nothing does', () => {
  const draft = edited(SETTINGS, undefined, { name: 'Mine' })
  expect(draft && changeOf(draft)).toEqual({ name: 'Mine' })
  const both = edited(SETTINGS, draft, { isTaxInvoice: true })
  expect(both && changeOf(both)).toEqual({ name: 'Mine', isTaxInvoice: true })
  expect(edited(SETTINGS, draft, { name: 'Paw' })).toBeUndefined()
})

test('a draft keeps the version from which it started until the person has read what others have saved', () => {
  const draft = edited(SETTINGS, undefined, { name: 'Mine' })
  if (draft === undefined) throw new Error('no draft')
  expect(savedByOthers(draft, SETTINGS)).toEqual([])
  expect(savedByOthers(draft, THEIRS)).toEqual(['name', 'address'])
  expect(edited(THEIRS, draft, { receiptText: 'Thanks' })?.base.etag).toBe('"1"')
  const kept = rebased(draft, THEIRS)
  expect(kept?.base.etag).toBe('"2"')
  expect(kept?.values).toMatchObject({ name: 'Mine', address: 'Theirs 1' })
  expect(kept && changeOf(kept)).toEqual({ name: 'Mine' })
})

test('names what is changed', () => {
  expect(labelsText(['name'])).toBe('Name')
  expect(labelsText(['name', 'address', 'timeZone'])).toBe('Name, Address and Time zone')
})

test('the choices have names, and contain what the shop has', () => {
  expect(currencyText('EUR')).toBe('Euro, EUR')
  expect(timeZoneText('America/New_York')).toBe('America/New York')
  expect(currencies('UYW').map(({ value }) => value)).toEqual(expect.arrayContaining(['UYW', 'EUR', 'JPY']))
  expect(timeZones('Etc/GMT+5').map(({ value }) => value)).toEqual(
    expect.arrayContaining(['Etc/GMT+5', 'UTC', 'Europe/Berlin']),
  )
})
