// `petstore orders`: hold an animal of a running service, then sell it or let it go.
import { type Command, Option } from 'commander'
import type { Order } from '../../client/src/petstore.ts'
import { HOLD_MINUTES_MAX } from '../orders/hold-limit.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printItems,
  printList,
  toJson,
} from './output.ts'
import { parseIdArgument, parseWhole } from './arguments.ts'
import {
  addIdempotencyKey,
  addRemoteOptions,
  callService,
  type RemoteOptions,
  withIdempotencyKey,
} from './remote.ts'
import { localTime, print, say, type Style } from './terminal.ts'

const STATUS_STYLES: Record<Order['status'], Style> = {
  open: 'yellow',
  completed: 'green',
  cancelled: 'dim',
  expired: 'dim',
}
const STATUSES = Object.keys(STATUS_STYLES)

const COLUMNS: Columns<Order> = {
  heads: ['ID', 'STATUS', 'ANIMAL', 'PLACED', 'HELD UNTIL', 'ENDED', 'PLACED BY', 'NOTE'],
  toRow: ({ id, status, petId, createdAt, expiresAt, closedAt, placedBy, note }) => [
    id,
    { text: status, style: STATUS_STYLES[status] },
    petId,
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
}

interface PlaceOptions extends RemoteOptions {
  holdMinutes?: number
  note?: string
}

export function addOrders(program: Command): void {
  const orders = program
    .command('orders')
    .description('hold animals of a running service, sell them or let them go')
    .addHelpText('after', '\nlist and get need a key with orders:read, the others one with orders:write.')

  const list = orders
    .command('list')
    .description('list orders, newest first; times are of your time zone')
    .option('--pet <id>', 'only orders of this animal', parseIdArgument)
    .addOption(new Option('--status <status>', 'only orders with this status').choices(STATUSES))
    .action((options: OrderListOptions) =>
      callService(options, async (remote) => {
        const query = { petId: options.pet, status: options.status, limit: pageSize(options) }
        await printList(remote.store.orders.list(query, remote.call), options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(list, ['petstore orders list --status open', 'petstore orders list --pet 42 --all'])

  const get = orders
    .command('get')
    .description('show an order; times are of your time zone')
    .argument('<id>', 'the id of the order', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        const order = await store.orders.get(id, call)
        if (options.json) print(toJson(order))
        else await printItems([order], false, COLUMNS)
      }),
    )
  addRemoteOptions(get, ['petstore orders get 7', 'petstore orders get 7 --json'])

  const place = orders
    .command('place')
    .description('hold an animal for a customer and print the id of the order, alone, on standard output')
    .argument('<pet-id>', 'the animal to hold', parseIdArgument)
    .option(
      '--hold-minutes <n>',
      'how long to hold it; an hour unless the operator chose otherwise',
      parseWhole(1, HOLD_MINUTES_MAX),
    )
    .option('--note <text>', 'who wants it, when they come')
    .action((petId: bigint, given: PlaceOptions) => {
      const options = withIdempotencyKey(given)
      return callService(options, async ({ store, call }) => {
        const { holdMinutes, note, idempotencyKey } = options
        const order = await store.orders.place({ petId, holdMinutes, note }, { ...call, idempotencyKey })
        if (options.json) return print(toJson(order))
        say(`Held animal ${order.petId} until ${localTime(order.expiresAt)}. The id of the order:`)
        print(order.id)
      })
    })
  addIdempotencyKey(place, 'places no second order')
  addRemoteOptions(place, ['petstore orders place 42 --hold-minutes 30 --note "Ms Okafor, comes at noon"'])

  addEnding(orders, 'complete', 'sell the animal that an order holds', 'sold')
  addEnding(orders, 'cancel', 'let go the animal that an order holds', 'let go')
}

function addEnding(orders: Command, verb: 'complete' | 'cancel', description: string, done: string): void {
  const ending = orders
    .command(verb)
    .description(description)
    .argument('<id>', 'the id of the order', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        const order = await store.orders[verb](id, call)
        if (options.json) return print(toJson(order))
        say(`Order ${order.id} is ${order.status}: animal ${order.petId} was ${done}${endOf(order)}.`)
      }),
    )
  addRemoteOptions(ending, [`petstore orders ${verb} 7`])
}

function endOf({ closedAt }: Order): string {
  return closedAt === undefined ? '' : ` at ${localTime(closedAt)}`
}
