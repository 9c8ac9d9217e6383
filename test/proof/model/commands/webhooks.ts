// Commands on webhooks. No process delivers.
import * as fc from 'fast-check'
import { EVENT_TYPES } from '../reference/events.ts'
import type { ApiKey, Expected, Id, Seen } from '../reference/store.ts'
import {
  createWebhook,
  deleteWebhook,
  FOREIGN_POSITION,
  getWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  replayWebhook,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from '../reference/webhooks.ts'
import { callBoth, type Sender, type Session } from '../fixture.ts'
import * as some from './choices.ts'
import { type Choice, type Command, command, pick } from './choices.ts'

const READ = { scope: 'webhooks:read', method: 'GET' }
const DELETE = { scope: 'webhooks:write', method: 'DELETE' }
/** Sends events, or shows them. */
const SEND = { scope: 'webhooks:write pets:read', method: 'POST' }
const SEE = { scope: 'webhooks:read pets:read', method: 'GET' }

const fields = {
  description: some.optional(fc.constantFrom('Web shop', '🐕')),
  types: some.optional(fc.shuffledSubarray([...EVENT_TYPES], { minLength: 1 })),
}
const url = fc.constantFrom('https://shop.example/hooks', 'https://partner.example/?token=1')

const pickWebhook = ({ store }: Session, choice: Choice): Id => pick([...store.webhooks.keys()], choice)

const create = command({ url, ...fields }, async (session, sender, body) => {
  const call = { ...SEND, operation: 'createWebhook', path: '/webhooks', body }
  await callBoth(session, sender, call, (_caller, seen, apiKey) =>
    createWebhook(session.store, apiKey, body, seen),
  )
})

/** A command on one webhook. */
const onWebhook = (
  operation: string,
  call: { scope: string; method: string },
  suffix: string,
  model: (session: Session, id: Id, seen: Seen, apiKey: ApiKey) => Expected,
) =>
  command({ choice: some.choice }, async (session, sender, { choice }) => {
    const id = pickWebhook(session, choice)
    await callBoth(
      session,
      sender,
      { ...call, operation, path: `/webhooks/${id}${suffix}` },
      (_caller, seen, apiKey) => model(session, id, seen, apiKey),
    )
  })

const get = onWebhook('getWebhook', READ, '', ({ store }, id, _seen, apiKey) => getWebhook(store, apiKey, id))
const remove = onWebhook('deleteWebhook', DELETE, '', ({ store }, id) => deleteWebhook(store, id))
const test = onWebhook('testWebhook', SEND, '/test', ({ store }, id, _seen, apiKey) =>
  testWebhook(store, apiKey, id),
)
const deliveries = onWebhook('listDeliveries', SEE, '/deliveries', ({ store }, id) =>
  listDeliveries(store, id),
)
const repeat = onWebhook('redeliver', SEND, '/deliveries/1/redeliver', ({ store }, id, _seen, apiKey) =>
  redeliver(store, apiKey, id),
)

const list = command({}, (session, sender) => listAll(session, sender))

/** Compares all webhooks with the model. There are fewer than a page. */
export async function listAll(session: Session, sender: Sender): Promise<void> {
  const call = { ...READ, operation: 'listWebhooks', path: '/webhooks?limit=100' }
  await callBoth(session, sender, call, (_caller, _seen, apiKey) => listWebhooks(session.store, apiKey))
}

const update = command(
  { choice: some.choice, url: some.optional(url), ...fields, enabled: some.optional(fc.boolean()) },
  async (session, sender, { choice, ...body }) => {
    const id = pickWebhook(session, choice)
    const call = { ...SEND, method: 'PATCH', operation: 'updateWebhook', path: `/webhooks/${id}`, body }
    await callBoth(session, sender, call, (_caller, seen, apiKey) =>
      updateWebhook(session.store, apiKey, id, body, seen),
    )
  },
)

const rotate = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const id = pickWebhook(session, choice)
  const path = `/webhooks/${id}/rotate-secret`
  await callBoth(
    session,
    sender,
    { ...SEND, operation: 'rotateWebhookSecret', path, body: { overlapSeconds: 60 } },
    (_caller, seen, apiKey) => rotateSecret(session.store, apiKey, id, seen),
  )
})

const replay = command(
  { choice: some.choice, to: fc.constantFrom('latest', 'start', 'foreign') },
  async (session, sender, { choice, to }) => {
    const id = pickWebhook(session, choice)
    const after = { latest: 'latest', start: session.feedStart, foreign: FOREIGN_POSITION }[to] ?? ''
    await callBoth(
      session,
      sender,
      { ...SEND, operation: 'replayWebhook', path: `/webhooks/${id}/replay`, body: { after } },
      (_caller, seen, apiKey) => replayWebhook(session.store, apiKey, id, after, seen),
    )
  },
)

export const webhookCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: create, weight: 2 },
  { arbitrary: update, weight: 2 },
  { arbitrary: get, weight: 1 },
  { arbitrary: list, weight: 1 },
  { arbitrary: remove, weight: 1 },
  { arbitrary: test, weight: 1 },
  { arbitrary: rotate, weight: 1 },
  { arbitrary: replay, weight: 1 },
  { arbitrary: deliveries, weight: 1 },
  { arbitrary: repeat, weight: 1 },
]
