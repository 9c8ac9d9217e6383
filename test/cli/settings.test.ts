// `petstore settings`: shows and changes the settings of a running service.
import { expect, test } from 'vitest'
import { behindFaultInjector, cellsOf, openCliFixture } from './fixture.ts'

const cli = await openCliFixture()
const { run, json, api } = cli

const ROWS = (shown: string) => Object.fromEntries(cellsOf(shown).map(([name, value]) => [name, value]))

test('update changes the given settings, shows all, and prints the ETag for --if-match', async () => {
  const args = ['--name', 'Paw & Feather', '--address', 'Ackerhof 7\n10115 Berlin', '--tax-invoice', 'yes']
  const updated = await run('settings', 'update', ...args)
  expect(updated).toMatchObject({ code: 0, stderr: 'The ETag of the settings: "2"\n' })
  expect(ROWS(updated.stdout)).toMatchObject({
    NAME: 'Paw & Feather',
    ADDRESS: 'Ackerhof 7\\n10115 Berlin',
    'RECEIPT TEXT': '-',
    'TAX INVOICE': 'yes',
    CURRENCY: 'EUR',
    'TIME ZONE': 'Europe/Berlin',
    'OPEN MONEY': 'none',
  })
  const cleared = await json('settings', 'update', '--address', '', '--tax-invoice', 'no', '--if-match', '2')
  expect(cleared).toMatchObject({ name: 'Paw & Feather', address: '', isTaxInvoice: false })
  const stale = await run('settings', 'update', '--name', 'x', '--if-match', '2')
  expect(stale).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('(precondition_failed,'),
  })
})

test('without a command, and with show, it shows the settings', async () => {
  const shown = await run('settings')
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('CURRENCY') })
  expect(await run('settings', 'show')).toEqual(shown)
  expect(await json('settings', 'show')).toEqual((await api.get('/store/settings')).body)
})

test('says what keeps the currency', async () => {
  const { id } = await api.hold()
  expect(ROWS((await run('settings')).stdout)['OPEN MONEY']).toMatch(
    /^1 hold; the currency and the time zone/,
  )
  const rejected = await run('settings', 'update', '--currency', 'USD')
  expect(rejected).toMatchObject({ code: 1, stderr: expect.stringContaining('while money is open: 1 hold.') })
  await api.end('cancel', id)
  expect(await json('settings', 'update', '--currency', 'USD')).toMatchObject({ currency: 'USD' })
})

test.each([
  [[], 'give at least one setting'],
  [['--tax-invoice', 'perhaps'], 'Allowed choices are yes, no'],
  [['--name', 'x', '--if-match', 'x'], 'Use an ETag as printed by `petstore settings`'],
])('update %j fails with a usage error', async (args, message) => {
  expect(await run('settings', 'update', ...args)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(message),
  })
})

test('update says how to check the change after a lost response', async () => {
  const { run: runWithFaults, injector } = await behindFaultInjector(cli)
  injector.next('hang after')
  const lost = await runWithFaults('settings', 'update', '--name', 'Lost', '--timeout', '4')
  expect(lost).toMatchObject({ code: 75, stdout: '' })
  expect(lost.stderr).toContain('Check before you retry: petstore settings\n')
  await expect.poll(async () => (await api.get('/store/settings')).body).toMatchObject({ name: 'Lost' })
})
