// `petstore settings`: calls a running service to show and change the settings of the shop.
import { type Command, Option } from 'commander'
import type { OpenMoney, SettingsChange, VersionedSettings } from '../../client/src/petstore.ts'
import { SETTINGS_CHANGE } from '../../client/src/rules.ts'
import { describeOpenMoney } from '../store/settings/open-money.ts'
import { count } from '../values/count-text.ts'
import { parseEtagOf } from './terminal/arguments.ts'
import { toJson } from './terminal/output.ts'
import { addRemoteOptions, callService, type RemoteOptions } from './terminal/remote.ts'
import { localTime, print, say, table, visible } from './terminal/terminal.ts'

interface UpdateOptions extends RemoteOptions {
  name?: string
  address?: string
  receiptText?: string
  taxInvoice?: 'yes' | 'no'
  currency?: string
  timeZone?: string
  ifMatch?: string
}

const upTo = ({ maxLength }: { maxLength: number }) => `at most ${count(maxLength)} characters; can be empty`

export function addSettings(program: Command): void {
  const settings = program
    .command('settings')
    .description('show and change the settings of the shop')
    .addHelpText('after', '\nThe API key needs the scope admin for update.')
  const show = settings
    .command('show', { isDefault: true })
    .description('show the settings; with the scope admin, also what keeps the currency and the time zone')
    .action((options: RemoteOptions) =>
      callService(options, async ({ store, call }) => printSettings(await store.settings.get(call), options)),
    )
  addRemoteOptions(show, ['petstore settings', 'petstore settings show --json'])
  addUpdate(settings)
}

function addUpdate(settings: Command): void {
  const update = settings
    .command('update')
    .description('change the given settings, and show all; every process follows within a second')
    .option('--name <text>', `name of the shop, ${upTo(SETTINGS_CHANGE.name)}`)
    .option('--address <text>', `address on receipts, in lines, ${upTo(SETTINGS_CHANGE.address)}`)
    .option('--receipt-text <text>', `text at the foot of receipts, ${upTo(SETTINGS_CHANGE.receiptText)}`)
    .addOption(
      new Option(
        '--tax-invoice <answer>',
        'whether a receipt is a tax invoice; otherwise it says that it is not',
      ).choices(['yes', 'no']),
    )
    .option('--currency <code>', 'currency of new prices, such as EUR; only while no money is open')
    .option('--time-zone <name>', 'where a day begins, such as Europe/Berlin; only while no money is open')
    .option(
      '--if-match <etag>',
      'change them only if they still have this ETag, which `petstore settings` prints',
      parseEtagOf('petstore settings'),
    )
    .action((options: UpdateOptions) => {
      const change = changeOf(options)
      if (Object.keys(change).length === 0) update.error('error: give at least one setting')
      const { ifMatch } = options
      return callService({ ...options, checkWith: 'petstore settings' }, async ({ store, call }) =>
        printSettings(await store.settings.update(change, { ...call, ifMatch }), options),
      )
    })
  addRemoteOptions(update, [
    `petstore settings update --name 'Paw & Feather' --address $'Ackerhof 7\\n10115 Berlin'`,
    'petstore settings update --currency USD --time-zone America/New_York',
  ])
}

function changeOf({
  name,
  address,
  receiptText,
  taxInvoice,
  currency,
  timeZone,
}: UpdateOptions): SettingsChange {
  const isTaxInvoice = taxInvoice === undefined ? undefined : taxInvoice === 'yes'
  const all = { name, address, receiptText, isTaxInvoice, currency, timeZone }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Prints one setting per line, because the texts are too long for one row. */
function printSettings({ etag, ...settings }: VersionedSettings, { json }: RemoteOptions): void {
  if (json) return print(toJson(settings))
  const { name, address, receiptText, isTaxInvoice, currency, timeZone, updatedAt, openMoney } = settings
  print(
    table([
      ['NAME', name || '-'],
      ['ADDRESS', address || '-'],
      ['RECEIPT TEXT', receiptText || '-'],
      ['TAX INVOICE', isTaxInvoice ? 'yes' : 'no'],
      ['CURRENCY', currency],
      ['TIME ZONE', timeZone],
      ['CHANGED', localTime(updatedAt)],
      ...(openMoney === undefined ? [] : [['OPEN MONEY', openText(openMoney)]]),
    ]),
  )
  say(`The ETag of the settings: ${visible(etag)}`)
}

/** What keeps the currency and the time zone from changing. */
function openText(openMoney: OpenMoney): string {
  const open = describeOpenMoney(openMoney)
  return open === undefined ? 'none' : `${open}; the currency and the time zone cannot change`
}
