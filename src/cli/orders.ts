// `petstore orders`: calls a running service to list, show, place, change, complete and cancel orders.
import { type Command, Option } from 'commander'
import type { NewOrder, Order, OrderChanges, OrderCompletion } from '../../client/src/petstore.ts'
import { LIST_ORDERS } from '../../client/src/rules.ts'
import { HOLD_MINUTES_MAX } from '../contract/hold-limit.ts'
import { parseIdArgument, parseInteger } from './terminal/arguments.ts'
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
import { localTime, print, say, type Style } from './terminal/terminal.ts'
import { methodOption, reasonOption } from './till.ts'

const STATUS_STYLES: Record<Order['status'], Style> = {
  open: 'yellow',
  completed: 'green',
  cancelled: 'dim',
  expired: 'dim',
}
const STATUSES = Object.keys(STATUS_STYLES)

const COLUMNS: Columns<Order> = {
  headings: ['ID', 'STATUS', 'PET', 'PRICE', 'PLACED', 'HELD UNTIL', 'ENDED', 'PLACED BY', 'NOTE'],
  toRow: (order) => [
    order.id,
    { text: order.status, style: STATUS_STYLES[order.status] },
    order.petId,
    priceOf(order),
    localTime(order.createdAt),
    localTime(order.expiresAt),
    order.closedAt === undefined ? '-' : localTime(order.closedAt),
    order.placedBy,
    order.note ?? '-',
  ],
}

/** With the net price if the sale was corrected or refunded since. */
function priceOf({ price, netPrice, currency }: Order): string {
  const agreed = price === undefined ? '-' : `${price} ${currency}`
  return netPrice === undefined || netPrice === price ? agreed : `${agreed} (net ${netPrice})`
}

interface OrderListOptions extends ListOptions {
  pet?: bigint
  status?: Order['status']
  sort?: 'expiresAt' | 'closedAt'
  closedFrom?: string
  closedTo?: string
}

interface PlaceOptions extends RemoteOptions {
  holdMinutes?: number
  note?: string
  price?: string
  currency?: string
  deposit?: string
  method?: Exclude<NewOrder['method'], undefined>
}

interface UpdateOptions extends RemoteOptions {
  note?: string
  clearNote?: boolean
  expiresAt?: string
  holdMinutes?: number
}

interface ClosingOptions extends RemoteOptions, OrderCompletion {}

const CURRENCY_OPTION = [
  '--currency <code>',
  'currency of the price, such as EUR (default: that of the store; required if the stored price has another one)',
] as const

export function addOrders(program: Command): void {
  const orders = program
    .command('orders')
    .description('list, get, place, change, complete and cancel orders, which hold and sell pets')
    .addHelpText(
      'after',
      '\nThe API key needs the scope orders:read for list and get, and orders:write for the other commands.',
    )
  addList(orders)
  addGet(orders)
  addPlace(orders)
  addUpdate(orders)
  addClosing(orders, 'complete', 'complete an open order; its pet becomes sold', 'sold')
    .option(
      '--price <amount>',
      'price of the sale, such as 119.00 (default: that of the order, otherwise that of the pet)',
    )
    .option(...CURRENCY_OPTION)
    .option('--note <text>', 'note for the staff, instead of that of the order')
    .addOption(methodOption('how the customer pays'))
    .addOption(reasonOption('why the price differs, such as discount'))
  addClosing(orders, 'cancel', 'cancel an open order; its pet becomes available', 'released')
}

function addList(orders: Command): void {
  const list = orders
    .command('list')
    .description('list orders, newest first; the table shows times in your time zone')
    .option('--pet <id>', 'list only orders for this pet', parseIdArgument)
    .addOption(new Option('--status <status>', 'list only orders with this status').choices(STATUSES))
    .addOption(
      new Option(
        '--sort <field>',
        'expiresAt lists the orders that expire next first, only with --status open; closedAt lists the last sales first, only with --status completed',
      ).choices(LIST_ORDERS.sort.enum),
    )
    .option(
      '--closed-from <time>',
      'list only orders that were completed at this time or later, such as 2026-11-15T00:00:00+01:00; only with --sort closedAt',
    )
    .option(
      '--closed-to <time>',
      'list only orders that were completed before this time; only with --sort closedAt',
    )
    .action((options: OrderListOptions) =>
      callService(options, async (remote) => {
        const { pet: petId, status, sort, closedFrom, closedTo } = options
        const query = { petId, status, sort, closedFrom, closedTo, limit: pageSize(options) }
        await printList(remote.store.orders.list(query, remote.call), options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(
    list,
    [
      'petstore orders list --status open --sort expiresAt',
      'petstore orders list --status completed --sort closedAt --closed-from 2026-11-15T00:00:00Z --all',
      'petstore orders list --pet 42 --all',
    ],
    LIST_HELP,
  )
}

function addGet(orders: Command): void {
  const get = orders
    .command('get')
    .description('show an order; the table shows times in your time zone')
    .argument('<id>', 'id of the order', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        const order = await store.orders.get(id, call)
        if (options.json) print(toJson(order))
        else await printItems([order], false, COLUMNS)
      }),
    )
  addRemoteOptions(get, ['petstore orders get 7', 'petstore orders get 7 --json'])
}

function addPlace(orders: Command): void {
  const place = orders
    .command('place')
    .description('place an order, which holds a pet for a customer, and print the id of the order')
    .argument('<pet-id>', 'id of the pet to hold', parseIdArgument)
    .option(
      '--hold-minutes <n>',
      `how long to hold the pet, 1 to ${HOLD_MINUTES_MAX} (default: HOLD_MINUTES of the service, 60 if not set)`,
      parseInteger(1, HOLD_MINUTES_MAX),
    )
    .option('--note <text>', 'note for the staff, such as the name of the customer')
    .option('--price <amount>', 'price, such as 129.00 (default: that of the pet, if it has one)')
    .option(...CURRENCY_OPTION)
    .option('--deposit <amount>', 'money that the customer pays now, such as 20.00; a sale settles it')
    .addOption(methodOption('how the customer pays the deposit'))
    .action((petId: bigint, parsed: PlaceOptions) => {
      const options = withIdempotencyKey(parsed)
      return callService(options, async ({ store, call }) => {
        const { holdMinutes, note, price, currency, deposit, method, idempotencyKey } = options
        const wanted = { petId, holdMinutes, note, price, currency, deposit, method }
        const order = await store.orders.place(wanted, { ...call, idempotencyKey })
        if (options.json) return print(toJson(order))
        say(`Held pet ${order.petId} until ${localTime(order.expiresAt)}. Order id:`)
        print(order.id)
      })
    })
  addIdempotencyKey(place, 'order')
  addRemoteOptions(place, [
    'petstore orders place 42 --hold-minutes 30 --note "Ms Okafor, comes at noon"',
    'petstore orders place 42 --deposit 20.00 --method cash',
  ])
}

function addUpdate(orders: Command): void {
  const update = orders
    .command('update')
    .description('change the note of an order, or when an open order expires, and show the order')
    .argument('<id>', 'id of the order', parseIdArgument)
    .option('--note <text>', 'note for the staff, instead of the former one')
    .addOption(new Option('--clear-note', 'remove the note').conflicts('note'))
    .option('--expires-at <time>', 'when the order expires, such as 2026-11-15T17:00:00+01:00')
    .addOption(
      new Option(
        '--hold-minutes <n>',
        `how long to hold the pet from now, 1 to ${HOLD_MINUTES_MAX}, instead of --expires-at`,
      )
        .argParser(parseInteger(1, HOLD_MINUTES_MAX))
        .conflicts('expiresAt'),
    )
  update.action((id: bigint, options: UpdateOptions) => {
    const changes: OrderChanges = {
      note: options.clearNote === true ? null : options.note,
      expiresAt: options.expiresAt ?? fromNow(options.holdMinutes),
    }
    if (changes.note === undefined && changes.expiresAt === undefined)
      update.error('error: give at least one of --note, --clear-note, --expires-at and --hold-minutes')
    return callService(options, async ({ store, call }) => {
      const order = await store.orders.update(id, changes, call)
      if (options.json) print(toJson(order))
      else await printItems([order], false, COLUMNS)
    })
  })
  addRemoteOptions(update, [
    'petstore orders update 7 --note "Ms Okafor, comes on Friday"',
    'petstore orders update 7 --hold-minutes 120',
  ])
}

function fromNow(minutes: number | undefined): string | undefined {
  return minutes === undefined ? undefined : new Date(Date.now() + minutes * 60_000).toISOString()
}

function addClosing(
  orders: Command,
  verb: 'complete' | 'cancel',
  description: string,
  done: string,
): Command {
  const closing = orders
    .command(verb)
    .description(description)
    .argument('<id>', 'id of the order', parseIdArgument)
    .action((id: bigint, options: ClosingOptions) =>
      callService(options, async ({ store, call }) => {
        const { price, currency, note, method, reason } = options
        const completion = { price, currency, note, method, reason }
        const order = await store.orders[verb](id, { ...call, ...completion })
        if (options.json) return print(toJson(order))
        say(`Order ${order.id} is ${order.status}: pet ${order.petId} was ${done}${closingTime(order)}.`)
      }),
    )
  addRemoteOptions(closing, [`petstore orders ${verb} 7`])
  return closing
}

function closingTime({ closedAt }: Order): string {
  return closedAt === undefined ? '' : ` at ${localTime(closedAt)}`
}
