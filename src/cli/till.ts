// `petstore till`: calls a running service to show and change the money of orders, to record cash, and to close days.
import { type Command, Option } from 'commander'
import type {
  CashMovement,
  Closing,
  Entry,
  GetTotalsQuery,
  OrderRefund,
  Totals,
} from '../../client/src/petstore.ts'
import { CASH_MOVEMENT, GET_TOTALS, ORDER_REFUND } from '../../client/src/rules.ts'
import { parseIdArgument } from './terminal/arguments.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printItems,
  printList,
  toJson,
} from './terminal/output.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  LIST_HELP,
  type RemoteOptions,
  withIdempotencyKey,
} from './terminal/remote.ts'
import { localTime, print, say } from './terminal/terminal.ts'

const ENTRY_COLUMNS: Columns<Entry> = {
  headings: [
    'ID',
    'DAY',
    'AT',
    'KIND',
    'ORDER',
    'PET',
    'PETS',
    'SALES',
    'PAID',
    'METHOD',
    'SELLER',
    'BY',
    'WHY',
  ],
  toRow: ({ id, day, at, kind, orderId, petId, pets, sales, paid, currency, ...entry }) => [
    id,
    day,
    localTime(at),
    kind,
    orderId ?? '-',
    petId ?? '-',
    String(pets),
    `${sales} ${currency}`,
    `${paid} ${currency}`,
    entry.method ?? '-',
    entry.seller ?? '-',
    entry.actor ?? '-',
    entry.reason ?? entry.note ?? '-',
  ],
}

const CLOSING_COLUMNS: Columns<Closing> = {
  headings: ['DAY', 'EXPECTED', 'COUNTED', 'DIFFERENCE', 'KEPT', 'CLOSED', 'BY', 'NOTE'],
  toRow: ({ day, at, closedBy, currency, expected, counted, difference, kept, note }) => [
    day,
    `${expected} ${currency}`,
    `${counted} ${currency}`,
    `${difference} ${currency}`,
    `${kept} ${currency}`,
    localTime(at),
    closedBy ?? '-',
    note ?? '-',
  ],
}

interface EntryListOptions extends ListOptions {
  order?: bigint
  pet?: bigint
  from?: string
  to?: string
}

interface TotalsOptions extends RemoteOptions, GetTotalsQuery {}

/** How money is paid, and why. */
interface PaymentOptions extends RemoteOptions {
  currency?: string
  method?: Exclude<Entry['method'], undefined>
  reason?: Exclude<Entry['reason'], undefined>
}

interface RefundOptions extends PaymentOptions {
  takeBack?: boolean
  withoutPet?: boolean
}

interface CashOptions extends RemoteOptions {
  currency?: string
  note: string
}

interface CloseOptions extends CashOptions {
  counted: string
  kept: string
}

const CURRENCY_OPTION = [
  '--currency <code>',
  'currency of the amount, such as EUR; another one than that of the order or the shop is rejected',
] as const

export function addTill(program: Command): void {
  const till = program
    .command('till')
    .description(
      'show totals and entries, correct and refund sales, settle deposits, record cash, close days',
    )
    .addHelpText(
      'after',
      '\nThe API key needs the scope orders:read for totals, entries and closings, orders:write for settle and for\nvoid of its own entries, and till:write for the other commands.',
    )
  addTotals(till)
  addEntries(till)
  addCorrect(till)
  addRefund(till)
  addSettle(till)
  addVoid(till)
  addCash(till)
  addClose(till)
  addClosings(till)
}

function addTotals(till: Command): void {
  const totals = till
    .command('totals')
    .description('show the sums of the entries of some days of the shop, the deposits, and the expected cash')
    .option('--from <day>', 'first day, such as 2026-11-01 (default: the last one)')
    .option('--to <day>', 'last day (default: today)')
    .addOption(new Option('--by <what>', 'also show the sums for each of these').choices(GET_TOTALS.by.enum))
    .action(({ from, to, by, ...options }: TotalsOptions) =>
      callService(options, async ({ store, call }) => {
        const found = await store.till.totals({ from, to, by }, call)
        if (options.json) print(toJson(found))
        else await printTotals(found, by)
      }),
    )
  addRemoteOptions(totals, [
    'petstore till totals',
    'petstore till totals --from 2026-11-01 --to 2026-11-30 --by seller',
  ])
}

async function printTotals(
  { from, to, timeZone, totals, groups = [], deposits, cash, drawer }: Totals,
  by: GetTotalsQuery['by'],
): Promise<void> {
  say(`${from === to ? from : `${from} to ${to}`}, days in ${timeZone}`)
  const field = by === 'category' ? 'categoryId' : by
  const rows = [
    ...groups.map((sums) => ({ ...sums, name: (field === undefined ? undefined : sums[field]) ?? '-' })),
    ...totals.map((sums) => ({ ...sums, name: 'total' })),
  ]
  await printItems(rows, false, {
    headings: [...(by === undefined ? [] : [by.toUpperCase()]), 'PETS', 'SALES', 'PAID'],
    toRow: ({ name, currency, pets, sales, paid }) => [
      ...(by === undefined ? [] : [name]),
      String(pets),
      `${sales} ${currency}`,
      `${paid} ${currency}`,
    ],
  })
  for (const { amount, currency } of deposits) print(`Deposits held: ${amount} ${currency}`)
  for (const { amount, currency } of cash) print(`Cash put in, minus cash taken out: ${amount} ${currency}`)
  if (drawer !== undefined) print(`Expected cash: ${drawer.expected} ${drawer.currency}`)
}

function addEntries(till: Command): void {
  const entries = till
    .command('entries')
    .description('list entries of the ledger, newest first; the table shows times in your time zone')
    .addOption(
      new Option('--order <id>', 'list only entries of this order')
        .argParser(parseIdArgument)
        .conflicts('pet'),
    )
    .option('--pet <id>', 'list only entries of this pet', parseIdArgument)
    .option('--from <day>', 'list only entries of this day of the shop or later ones, such as 2026-11-01')
    .option('--to <day>', 'list only entries of this day of the shop or earlier ones')
    .action((options: EntryListOptions) =>
      callService(options, async (remote) => {
        const { order: orderId, pet: petId, from, to } = options
        const query = { orderId, petId, from, to, limit: pageSize(options) }
        await printList(remote.store.till.entries(query, remote.call), options, ENTRY_COLUMNS, remote)
      }),
    )
  addListOptions(entries)
  addRemoteOptions(
    entries,
    ['petstore till entries --order 7', 'petstore till entries --from 2026-11-01 --all --json'],
    LIST_HELP,
  )
}

function addCorrect(till: Command): void {
  const correct = till
    .command('correct')
    .description('make the price of a sale the right one')
    .argument('<order-id>', 'id of the order', parseIdArgument)
    .argument('<price>', 'the right price, such as 119.00')
    .action((orderId: bigint, price: string, options: PaymentOptions) =>
      callService(options, async ({ store, call }) => {
        const order = await store.orders.correct(orderId, { price, ...paymentOf(options) }, call)
        if (options.json) return print(toJson(order))
        say(`The price of order ${order.id} is ${order.netPrice} ${order.currency}.`)
      }),
    )
  addPaymentOptions(correct)
  addRemoteOptions(correct, ['petstore till correct 7 119.00 --reason wrong_price'])
}

function addRefund(till: Command): void {
  const refund = till
    .command('refund')
    .description('give money back for a sale, and print the id of the entry')
    .argument('<order-id>', 'id of the order', parseIdArgument)
    .argument('<amount>', 'what the customer gets back, such as 100.00')
    .addOption(new Option('--take-back', 'the pet comes back, and is available').conflicts('withoutPet'))
    .option('--without-pet', 'the customer keeps the pet')
  refund.action((orderId: bigint, amount: string, parsed: RefundOptions) => {
    if (parsed.takeBack === undefined && parsed.withoutPet === undefined)
      refund.error('error: give --take-back or --without-pet')
    const options = withIdempotencyKey(parsed)
    const wanted: OrderRefund = { amount, takeBack: options.takeBack === true, ...paymentOf(options) }
    return callService(options, async ({ store, call }) => {
      const { idempotencyKey } = options
      const entry = await store.orders.refund(orderId, wanted, { ...call, idempotencyKey })
      printEntry(entry, options, `Refunded ${positive(entry.paid)} ${entry.currency} of order ${orderId}.`)
    })
  })
  addPaymentOptions(refund)
  addIdempotencyKey(refund, 'entry')
  addRemoteOptions(refund, [
    'petstore till refund 7 100.00 --take-back --reason changed_mind',
    'petstore till refund 7 20.00 --without-pet --method cash',
  ])
}

function addSettle(till: Command): void {
  const settle = till
    .command('settle')
    .description('end a deposit without a sale, and print the id of the entry')
    .argument('<order-id>', 'id of the order', parseIdArgument)
    .argument('<refund>', 'what the customer gets back; the shop keeps the rest')
    .action((orderId: bigint, refund: string, parsed: PaymentOptions) => {
      const options = withIdempotencyKey(parsed)
      const wanted = { refund, ...paymentOf(options) }
      return callService(options, async ({ store, call }) => {
        const { idempotencyKey } = options
        const entry = await store.orders.settleDeposit(orderId, wanted, { ...call, idempotencyKey })
        const { currency, paid, sales } = entry
        printEntry(entry, options, `Gave back ${positive(paid)} ${currency}, and kept ${sales} ${currency}.`)
      })
    })
  addPaymentOptions(settle)
  addIdempotencyKey(settle, 'entry')
  addRemoteOptions(settle, ['petstore till settle 7 20.00 --method cash'])
}

function addVoid(till: Command): void {
  const undo = till
    .command('void')
    .description('take back the last entry of an order, within minutes, and print the id of the void')
    .argument('<entry-id>', 'id of the entry', parseIdArgument)
    .action((entryId: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) =>
        printEntry(await store.till.void(entryId, call), options, `Voided entry ${entryId}.`),
      ),
    )
  addRemoteOptions(undo, ['petstore till void 981'])
}

function addCash(till: Command): void {
  const cash = till
    .command('cash')
    .description('record cash that is put into the drawer or taken out without a sale')
    .addArgument(
      till.createArgument('<direction>', 'in or out of the drawer').choices(CASH_MOVEMENT.direction.enum),
    )
    .argument('<amount>', 'how much, such as 50.00')
    .requiredOption('--note <text>', 'what for, such as "change from the bank"')
    .option(...CURRENCY_OPTION)
    .action((direction: CashMovement['direction'], amount: string, parsed: CashOptions) => {
      const options = withIdempotencyKey(parsed)
      return callService(options, async ({ store, call }) => {
        const { currency, note, idempotencyKey } = options
        const movement = { direction, amount, currency, note }
        const entry = await store.till.recordCash(movement, { ...call, idempotencyKey })
        const done = direction === 'in' ? 'Put in' : 'Took out'
        printEntry(entry, options, `${done} ${positive(entry.paid)} ${entry.currency}.`)
      })
    })
  addIdempotencyKey(cash, 'entry')
  addRemoteOptions(cash, ['petstore till cash in 50.00 --note "change from the bank"'])
}

function addClose(till: Command): void {
  const close = till
    .command('close')
    .description('close a day of the shop, and the days before, with the counted cash')
    .argument('<day>', 'the day, such as 2026-11-19')
    .requiredOption('--counted <amount>', 'the cash that was counted in the drawer')
    .requiredOption('--kept <amount>', 'the part of it that stays in the drawer')
    .option('--note <text>', 'why the cash differs, for example')
    .option(...CURRENCY_OPTION)
    .action((day: string, options: CloseOptions) =>
      callService(options, async ({ store, call }) => {
        const { counted, kept, note, currency } = options
        const closing = await store.till.closeDay({ day, counted, kept, note, currency }, call)
        if (options.json) print(toJson(closing))
        else await printItems([closing], false, CLOSING_COLUMNS)
      }),
    )
  addRemoteOptions(close, ['petstore till close 2026-11-19 --counted 213.00 --kept 100.00'])
}

function addClosings(till: Command): void {
  const closings = till
    .command('closings')
    .description('list closed days, newest first; the table shows times in your time zone')
    .action((options: ListOptions) =>
      callService(options, async (remote) => {
        const list = remote.store.till.closings({ limit: pageSize(options) }, remote.call)
        await printList(list, options, CLOSING_COLUMNS, remote)
      }),
    )
  addListOptions(closings)
  addRemoteOptions(closings, ['petstore till closings --limit 7'], LIST_HELP)
}

/** Of `orders place`, too. */
export const methodOption = (description: string) =>
  new Option('--method <method>', description).choices(ORDER_REFUND.method.enum)

export const reasonOption = (description: string) =>
  new Option('--reason <reason>', description).choices(ORDER_REFUND.reason.enum)

function addPaymentOptions(command: Command): void {
  command
    .option(...CURRENCY_OPTION)
    .addOption(methodOption('how the money is paid (default: that of the sale or of the deposit)'))
    .addOption(reasonOption('why'))
}

function paymentOf({ currency, method, reason }: PaymentOptions) {
  return { currency, method, reason }
}

function printEntry(entry: Entry, { json }: RemoteOptions, done: string): void {
  if (json) return print(toJson(entry))
  say(`${done} Entry id:`)
  print(entry.id)
}

function positive(amount: string): string {
  return amount.replace('-', '')
}
