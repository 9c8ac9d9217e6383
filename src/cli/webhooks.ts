// `petstore webhooks`: calls a running service to create, list, change and delete webhooks. A new secret is the only
// output on standard output, so that scripts can capture it.
import { type Command, Option } from 'commander'
import type { EventType, Webhook, WebhookChanges } from '../../client/src/petstore.ts'
import {
  DESCRIPTION_LENGTH_MAX,
  SECRET_OVERLAP_SECONDS_DEFAULT,
  SECRET_OVERLAP_SECONDS_MAX,
} from '../events/webhooks/rules.ts'
import { countOf } from '../values/count-text.ts'
import { TYPES } from './event-types.ts'
import { parseDuration, parseIdArgument } from './terminal/arguments.ts'
import {
  addListOptions,
  type Columns,
  type ListOptions,
  pageSize,
  printList,
  toJson,
} from './terminal/output.ts'
import {
  addRemoteOptions,
  callService,
  LIST_HELP,
  type Remote,
  type RemoteOptions,
} from './terminal/remote.ts'
import { type Cell, localTime, print, say, table, visible } from './terminal/terminal.ts'
import { addDeliveries } from './webhook-deliveries.ts'
import { addForward } from './webhooks-forward.ts'

const COLUMNS: Columns<Webhook> = {
  headings: ['ID', 'STATE', 'LAST DELIVERED', 'WAITING', 'TYPES', 'URL', 'DESCRIPTION'],
  toRow: (webhook) => [
    webhook.id,
    stateOf(webhook),
    webhook.lastDeliveredAt === undefined ? '-' : localTime(webhook.lastDeliveredAt),
    String(webhook.waiting).padStart('WAITING'.length),
    TYPES.every((type) => webhook.types.includes(type)) ? 'all' : webhook.types.join(','),
    webhook.url,
    webhook.description ?? '-',
  ],
}

interface WebhookOptions extends RemoteOptions {
  type?: EventType[]
  description?: string
}

interface UpdateOptions extends WebhookOptions {
  receiver?: string
}

export function addWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('create, list, change and test webhooks, which send events to a URL')
    .addHelpText(
      'after',
      `
The API key needs the scope webhooks:read for list, show and deliveries, events:read for forward, and webhooks:write
for the other commands. All except list, show, forward and delete also need pets:read, and for events of orders
orders:read. "petstore deliver" sends the events: run it next to the service.`,
    )
  addCreate(webhooks)
  addList(webhooks)
  addShow(webhooks)
  addUpdate(webhooks)
  addSwitch(webhooks, 'enable', 'deliver to a webhook again, after its last delivered event')
  addSwitch(webhooks, 'disable', 'stop the delivery to a webhook until you enable it')
  addDelete(webhooks)
  addRotateSecret(webhooks)
  addDeliveries(webhooks)
  addForward(webhooks)
}

function addCreate(webhooks: Command): void {
  const create = webhooks
    .command('create')
    .description('create a webhook for all later events and print its secret, which cannot be shown again')
    .argument('<url>', 'where to send the events: an https: URL of a public host')
  addFields(create, 'types of the events to send (default: all types that the key can read)')
  create.action((url: string, options: WebhookOptions) =>
    callService({ ...options, checkWith: 'petstore webhooks list' }, async ({ store, call }) => {
      const { type: types, description } = options
      const created = await store.webhooks.create({ url, types, description }, call)
      if (options.json) return print(toJson(created))
      say(`Created webhook ${created.id} for ${visible(created.url)}.`)
      printSecret(created.secret)
    }),
  )
  addRemoteOptions(create, [
    'petstore webhooks create https://shop.example/hooks/petstore',
    'petstore webhooks create https://shop.example/hooks/petstore --type pet.created pet.updated --description "web shop"',
  ])
}

function addFields(command: Command, typeHelp: string): void {
  command
    .addOption(new Option('--type <type...>', typeHelp).choices(TYPES))
    .option('--description <text>', `what the webhook is for, 1 to ${DESCRIPTION_LENGTH_MAX} characters`)
}

function printSecret(secret: string): void {
  say('Store its secret in the receiver, which verifies the signatures with it. It is shown only once:')
  print(secret)
}

function addList(webhooks: Command): void {
  const list = webhooks
    .command('list')
    .description(
      'list webhooks, newest first, with their state and the number of messages that wait; times are in your time zone',
    )
    .action((options: ListOptions) =>
      callService(options, async (remote) => {
        const query = { limit: pageSize(options) }
        await printList(remote.store.webhooks.list(query, remote.call), options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(list, ['petstore webhooks list', 'petstore webhooks list --all --json'], LIST_HELP)
}

function addShow(webhooks: Command): void {
  const show = webhooks
    .command('show')
    .alias('get')
    .description('show a webhook, with its position in the feed; times are in your time zone')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) =>
        printWebhook(await store.webhooks.get(id, call), options),
      ),
    )
  addRemoteOptions(show, ['petstore webhooks show 1', 'petstore webhooks show 1 --json'])
}

function addUpdate(webhooks: Command): void {
  const update = webhooks
    .command('update')
    .description('change the URL, types or description of a webhook, and show the webhook')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .option('--receiver <url>', 'where to send the events from now on')
  addFields(update, 'types of the events to send from now on, instead of the former ones')
  update.action((id: bigint, options: UpdateOptions) => {
    const { receiver: url, type: types, description } = options
    if (url === undefined && types === undefined && description === undefined) {
      update.error('error: give at least one of --receiver, --type and --description')
    }
    return changeWebhook(id, { url, types, description }, options, async (webhook) =>
      printWebhook(webhook, options),
    )
  })
  addRemoteOptions(update, [
    'petstore webhooks update 1 --type pet.created pet.updated pet.deleted',
    'petstore webhooks update 1 --receiver https://shop.example/new-hooks',
  ])
}

function addSwitch(webhooks: Command, verb: 'enable' | 'disable', description: string): void {
  const command = webhooks
    .command(verb)
    .description(description)
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      changeWebhook(id, { enabled: verb === 'enable' }, options, async (webhook) => {
        if (options.json) print(toJson(webhook))
        else if (webhook.enabled) say(`Webhook ${id} is enabled. It continues where it stopped.`)
        else say(`Webhook ${id} is disabled. Its events wait until you run: petstore webhooks enable ${id}`)
      }),
    )
  addRemoteOptions(command, [`petstore webhooks ${verb} 1`])
}

function changeWebhook(
  id: bigint,
  changes: WebhookChanges,
  options: RemoteOptions,
  show: (webhook: Webhook) => Promise<void>,
): Promise<void> {
  const checkWith = `petstore webhooks show ${id}`
  return callService({ ...options, checkWith }, async ({ store, call }: Remote) =>
    show(await store.webhooks.update(id, changes, call)),
  )
}

function addDelete(webhooks: Command): void {
  const remove = webhooks
    .command('delete')
    .description('delete a webhook with its secrets and the list of its deliveries')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .action((id: bigint, options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        await store.webhooks.delete(id, call)
        // The response has no body, so there is no JSON to print.
        if (!options.json) say(`Deleted webhook ${id}.`)
      }),
    )
  addRemoteOptions(remove, ['petstore webhooks delete 1'], { json: 'print no message on success' })
}

function addRotateSecret(webhooks: Command): void {
  const rotate = webhooks
    .command('rotate-secret')
    .description('replace the secret of a webhook and print the new secret')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .addOption(
      new Option(
        '--overlap <duration>',
        'how long messages are signed with the former secret too, such as 1h',
      )
        .argParser(parseDuration(SECRET_OVERLAP_SECONDS_MAX, '30d'))
        .default(SECRET_OVERLAP_SECONDS_DEFAULT, '24h'),
    )
    .action((id: bigint, options: RemoteOptions & { overlap: number }) =>
      callService(options, async ({ store, call }) => {
        const rotation = { overlapSeconds: options.overlap }
        const issued = await store.webhooks.rotateSecret(id, rotation, call)
        if (options.json) return print(toJson(issued))
        const overlap = countOf(options.overlap, 'second')
        say(`Webhook ${id} has a new secret. The former secret signs the messages too for ${overlap}.`)
        printSecret(issued.secret)
      }),
    )
  addRemoteOptions(rotate, [
    'petstore webhooks rotate-secret 1',
    'petstore webhooks rotate-secret 1 --overlap 1h',
  ])
}

function stateOf({ enabled, disabledReason, failingSince }: Webhook): Exclude<Cell, string> {
  if (enabled && failingSince === undefined) return { text: 'enabled', style: 'green' }
  if (enabled) return { text: 'failing', style: 'yellow' }
  if (disabledReason === 'caller') return { text: 'disabled', style: 'dim' }
  return { text: `disabled (${disabledReason})`, style: 'red' }
}

/** Prints one field per line, because the values are too long for one row. */
function printWebhook(webhook: Webhook, { json }: RemoteOptions): void {
  if (json) return print(toJson(webhook))
  const { id, url, description, types, disabledAt, failingSince, lastDeliveredAt } = webhook
  const { position, waiting, createdAt } = webhook
  const at = (name: string, instant: string | undefined) =>
    instant === undefined ? [] : [[name, localTime(instant)]]
  const rows: Cell[][] = [
    ['ID', id],
    ['URL', url],
    ['DESCRIPTION', description ?? '-'],
    ['TYPES', types.join(', ')],
    ['STATE', stateOf(webhook)],
    ...at('FAILING SINCE', failingSince),
    ...at('DISABLED', disabledAt),
    ...at('LAST DELIVERED', lastDeliveredAt),
    ['POSITION', position],
    ['WAITING', countOf(waiting, 'message')],
    ...at('CREATED', createdAt),
  ]
  print(table(rows))
  if (failingSince !== undefined) say(`See why with: petstore webhooks deliveries ${id} --outcome failed`)
  if (disabledAt !== undefined) say(`To deliver its events, run: petstore webhooks enable ${id}`)
}
