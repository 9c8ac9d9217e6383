// The commands of `petstore webhooks` that send messages to a receiver, and that list what was sent.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import type { Delivery, ListDeliveriesQuery } from '../../client/src/petstore.ts'
import { LATEST } from './event-types.ts'
import { parseIdArgument, requireArguments } from './terminal/arguments.ts'
import { EXIT_FAILED, EXIT_TRY_LATER } from './terminal/exit-codes.ts'
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
  addRemoteOptions,
  callService,
  LIST_HELP,
  type Remote,
  type RemoteOptions,
} from './terminal/remote.ts'
import { localTime, paint, print, say, type Style } from './terminal/terminal.ts'

type DeliveryOutcome = NonNullable<ListDeliveriesQuery['outcome']>

const OUTCOME_STYLES: Record<DeliveryOutcome, Style> = {
  delivered: 'green',
  failed: 'yellow',
  given_up: 'red',
  skipped: 'dim',
}
const OUTCOMES = Object.keys(OUTCOME_STYLES)
/** A test event is usually delivered within a second; the receiver has 15 seconds to respond. */
const TEST_WAIT_SECONDS = 20
const POLLED_EVERY_MS = 500

const COLUMNS: Columns<Delivery> = {
  headings: ['ID', 'AT', 'KIND', 'TYPE', 'PET', 'ATTEMPT', 'OUTCOME', 'RESPONSE', 'MS', 'NEXT ATTEMPT'],
  toRow: ({ id, at, kind, type, petId, outcome, responseStatus, failure, ...delivery }) => [
    id,
    localTime(at),
    kind,
    type,
    petId ?? '-',
    String(delivery.attempt).padStart('ATTEMPT'.length),
    { text: outcome, style: OUTCOME_STYLES[outcome as DeliveryOutcome] ?? 'bold' },
    String(responseStatus ?? failure ?? '-'),
    String(delivery.durationMs),
    delivery.nextAttemptAt === undefined ? '-' : localTime(delivery.nextAttemptAt),
  ],
}

interface DeliveryListOptions extends ListOptions {
  outcome?: DeliveryOutcome
}

export function addDeliveries(webhooks: Command): void {
  addTest(webhooks)
  addList(webhooks)
  addRedeliver(webhooks)
  addReplay(webhooks)
}

function addTest(webhooks: Command): void {
  const test = webhooks
    .command('test')
    .description('send a test event of the type webhook.test to a webhook')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .option('--wait', `wait up to ${TEST_WAIT_SECONDS} seconds for the result, and show it`)
    .action((id: bigint, options: RemoteOptions & { wait?: boolean }) =>
      callService({ ...options, checkWith: `petstore webhooks deliveries ${id}` }, async (remote) => {
        const { store, call } = remote
        if (options.wait) return testAndWait(id, options, remote)
        const webhook = await store.webhooks.sendTest(id, call)
        if (options.json) return print(toJson(webhook))
        say(`The test event is on its way. See the result with: petstore webhooks deliveries ${id}`)
      }),
    )
  addRemoteOptions(test, ['petstore webhooks test 1 --wait', 'petstore webhooks test 1'], {
    json: 'print the webhook or, with --wait, the result as JSON; ids keep every digit',
  })
}

async function testAndWait(id: bigint, options: RemoteOptions, remote: Remote): Promise<void> {
  const { store, call, stopWaiting } = remote
  const [newest] = (await store.webhooks.deliveries(id, { limit: 1 }, call).page()).items
  await store.webhooks.sendTest(id, call)
  stopWaiting()
  const delivery = await waitForTest(id, BigInt(newest?.id ?? 0), remote)
  if (delivery === undefined) {
    say(paint('yellow', `There is no result after ${TEST_WAIT_SECONDS} seconds.`))
    say('Check that "petstore deliver" runs. See the result later with:')
    say(`  petstore webhooks deliveries ${id}`)
    process.exitCode = EXIT_TRY_LATER
    return
  }
  if (options.json) print(toJson(delivery))
  else await printItems([delivery], false, COLUMNS)
  if (delivery.outcome === 'delivered') return
  say(adviceFor(delivery))
  process.exitCode = EXIT_FAILED
}

function adviceFor({ failure }: Delivery): string {
  if (failure === undefined) return 'The receiver must return a status from 200 to 299.'
  if (failure === 'timeout') return 'The receiver must respond within 15 seconds.'
  if (failure === 'address_blocked') {
    return 'The host has an address that is not public. The operator can allow it with WEBHOOK_NETWORKS.'
  }
  return 'There was no response. Check the URL, and that the service can reach the receiver.'
}

/** Returns the first attempt of a test event after a delivery; undefined if there is none in time. */
async function waitForTest(
  id: bigint,
  after: bigint,
  { store, call }: Remote,
): Promise<Delivery | undefined> {
  const deadline = performance.now() + TEST_WAIT_SECONDS * 1_000
  let seen = after
  while (performance.now() < deadline) {
    const earlier = seen
    let found: Delivery | undefined
    // Newest first: the oldest new test event is found last.
    for await (const delivery of store.webhooks.deliveries(id, {}, call)) {
      const number = BigInt(delivery.id)
      if (number <= earlier) break
      if (number > seen) seen = number
      if (delivery.kind === 'test' && delivery.attempt === 1) found = delivery
    }
    if (found !== undefined) return found
    // After Ctrl-C, the next call of the client fails.
    await sleep(POLLED_EVERY_MS, undefined, { signal: call.signal }).catch(() => {})
  }
  return undefined
}

function addList(webhooks: Command): void {
  const list = webhooks
    .command('deliveries')
    .description('list the attempts to deliver to a webhook, newest first; times are in your time zone')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .addOption(new Option('--outcome <outcome>', 'list only attempts with this outcome').choices(OUTCOMES))
    .action((id: bigint, options: DeliveryListOptions) =>
      callService(options, async (remote) => {
        const query = { outcome: options.outcome, limit: pageSize(options) }
        await printList(remote.store.webhooks.deliveries(id, query, remote.call), options, COLUMNS, remote)
      }),
    )
  addListOptions(list)
  addRemoteOptions(
    list,
    [
      'petstore webhooks deliveries 1',
      'petstore webhooks deliveries 1 --outcome failed --limit 100',
      'petstore webhooks deliveries 1 --all --json',
    ],
    LIST_HELP,
  )
}

function addRedeliver(webhooks: Command): void {
  const redeliver = webhooks
    .command('redeliver')
    .description('send the message of a delivery again, with the same webhook-id')
    .argument('<id>', 'id of the webhook', parseIdArgument)
    .argument('<delivery>', 'id of the delivery, from `petstore webhooks deliveries`', parseIdArgument)
    .action((id: bigint, deliveryId: bigint, options: RemoteOptions) => {
      const checkWith = `petstore webhooks deliveries ${id}`
      return callService({ ...options, checkWith }, async ({ store, call }) => {
        const webhook = await store.webhooks.redeliver(id, deliveryId, call)
        if (options.json) return print(toJson(webhook))
        say(`The message is on its way. See the result with: ${checkWith}`)
      })
    })
  addRemoteOptions(redeliver, ['petstore webhooks redeliver 1 7'])
}

function addReplay(webhooks: Command): void {
  const replay = webhooks
    .command('replay')
    .usage('<id> --after <position> [options]')
    .description('send all events after a position again, before newer ones')
    .argument('[id]', 'id of the webhook', parseIdArgument)
    .option(
      '--after <position>',
      `position of an event, from \`petstore webhooks deliveries --json\`; "${LATEST}" skips all events up to the newest one (required)`,
    )
    .action((idArgument: bigint | undefined, options: RemoteOptions & { after?: string }) => {
      const required = requireArguments(replay, { '<id>': idArgument, '--after <position>': options.after })
      const { '<id>': id, '--after <position>': after } = required
      const checkWith = `petstore webhooks show ${id}`
      return callService({ ...options, checkWith }, async ({ store, call }) => {
        const webhook = await store.webhooks.replay(id, { after }, call)
        if (options.json) return print(toJson(webhook))
        say(`Webhook ${id} continues after the position ${webhook.position}.`)
      })
    })
  addRemoteOptions(replay, [
    'petstore webhooks replay 1 --after 3f1c9a52be07-18',
    'petstore webhooks replay 1 --after latest',
  ])
}
