// `petstore orders`: calls a running service to list, show, place, complete and cancel orders.
import { type Command, Option } from 'commander'
import type { Order } from '../../client/src/petstore.ts'
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

const STATUS_STYLES: Record<Order['status'], Style> = {
  open: 'yellow',
  completed: 'green',
  cancelled: 'dim',
  expired: 'dim',
}
const STATUSES = Object.keys(STATUS_STYLES)

const COLUMNS: Columns<Order> = {
  headings: ['ID', 'STATUS', 'PET', 'PRICE', 'PLACED', 'HELD UNTIL', 'ENDED', 'PLACED BY', 'NOTE'],
  toRow: ({ id, status, petId, price, currency, createdAt, expiresAt, closedAt, placedBy, note }) => [
    id,
    { text: status, style: STATUS_STYLES[status] },
    petId,
    price === undefined ? '-' : `${price} ${currency}`,
    localTime(createdAt),
    localTime(expiresAt),
    closedAt === undefined ? '-' : localTime(closedAt),
    placedBy,
    note ?? '-',
  ],
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
}

interface ClosingOptions extends RemoteOptions {
  price?: string
  currency?: string
}

const CURRENCY_OPTION = [
  '--currency <code>',
  'currency of the price, such as EUR (default: that of the store; required if the stored price has another one)',
] as const

export function addOrders(program: Command): void {
  const orders = program
    .command('orders')
    .description('list, get, place, complete and cancel orders, which hold and sell pets')
    .addHelpText(
      'after',
      '\nThe API key needs the scope orders:read for list and get, and orders:write for the other commands.',
    )
  addList(orders)
  addGet(orders)
  addPlace(orders)
  addClosing(orders, 'complete', 'complete an open order; its pet becomes sold', 'sold')
    .option(
      '--price <amount>',
      'price of the sale, such as 119.00 (default: that of the order, otherwise that of the pet)',
    )
    .option(...CURRENCY_OPTION)
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
    .action((petId: bigint, parsed: PlaceOptions) => {
      const options = withIdempotencyKey(parsed)
      return callService(options, async ({ store, call }) => {
        const { holdMinutes, note, price, currency, idempotencyKey } = options
        const wanted = { petId, holdMinutes, note, price, currency }
        const order = await store.orders.place(wanted, { ...call, idempotencyKey })
        if (options.json) return print(toJson(order))
        say(`Held pet ${order.petId} until ${localTime(order.expiresAt)}. Order id:`)
        print(order.id)
      })
    })
  addIdempotencyKey(place, 'order')
  addRemoteOptions(place, ['petstore orders place 42 --hold-minutes 30 --note "Ms Okafor, comes at noon"'])
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
        const { price, currency } = options
        const order = await store.orders[verb](id, { ...call, price, currency })
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
