// Commands on API keys. The staff key is never revoked, because every sequence needs it.
import * as fc from 'fast-check'
import {
  createApiKey,
  getOwnApiKey,
  type NewApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from '../reference/api-keys.ts'
import type { Id } from '../reference/store.ts'
import { callBoth, madeApiKeys, passSecond, type Session } from '../fixture.ts'
import * as some from './choices.ts'
import { type Choice, type Command, command, pick } from './choices.ts'

const ALL = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'till:write',
  'events:read',
  'webhooks:read',
  'webhooks:write',
  'admin',
]

const name = fc.constantFrom('web-shop', 'till')
const newApiKey: fc.Arbitrary<NewApiKey> = fc.record({
  name,
  scopes: some.optional(fc.shuffledSubarray(ALL, { minLength: 1 })),
  // High enough never to be reached here.
  rateLimit: some.optional(fc.constant(1_000_000)),
  expiresInSeconds: some.optional(fc.constant(3_600)),
})

const create = command({ apiKey: newApiKey }, async (session, sender, { apiKey }) => {
  await callBoth(
    session,
    sender,
    { operation: 'createApiKey', scope: 'admin', method: 'POST', path: '/api-keys', body: { ...apiKey } },
    (_caller, seen) => createApiKey(session.store, apiKey, seen),
  )
})

const rotate = command(
  { choice: some.choice, overlapSeconds: some.optional(fc.constantFrom(0, 600)) },
  async (session, sender, { choice, overlapSeconds }) => {
    const id = pickApiKey(session, choice)
    await callBoth(
      session,
      sender,
      {
        operation: 'rotateApiKey',
        scope: 'admin',
        method: 'POST',
        path: `/api-keys/${id}/rotate`,
        body: { overlapSeconds },
      },
      (_caller, seen) => rotateApiKey(session.store, id, overlapSeconds, seen),
    )
  },
)

const rename = command({ choice: some.choice, name }, async (session, sender, given) => {
  const id = pickApiKey(session, given.choice)
  const body = { name: given.name }
  await callBoth(
    session,
    sender,
    { operation: 'updateApiKey', scope: 'admin', method: 'PATCH', path: `/api-keys/${id}`, body },
    () => updateApiKey(session.store, id, given.name),
  )
  // The service caches a name for a second, for replayed orders.
  passSecond(session)
})

const revoke = command({ choice: some.choice }, async (session, sender, { choice }) => {
  const id = pickApiKey(session, choice)
  await callBoth(
    session,
    sender,
    { operation: 'revokeApiKey', scope: 'admin', method: 'DELETE', path: `/api-keys/${id}` },
    () => revokeApiKey(session.store, id),
  )
})

const getOwn = command({}, async (session, sender) => {
  await callBoth(
    session,
    sender,
    { operation: 'getOwnApiKey', scope: 'any', method: 'GET', path: '/api-keys/self' },
    (_caller, _seen, apiKey) => getOwnApiKey(apiKey),
  )
})

const revokeOwn = command({}, async (session, sender) => {
  if (typeof sender.as !== 'number' || madeApiKeys(session).length === 0) return
  await callBoth(
    session,
    sender,
    { operation: 'revokeOwnApiKey', scope: 'any', method: 'DELETE', path: '/api-keys/self' },
    (_caller, _seen, apiKey) => revokeApiKey(session.store, apiKey.id),
  )
})

function pickApiKey(session: Session, choice: Choice): Id {
  return pick(
    madeApiKeys(session)
      .map(({ id }) => id)
      .toReversed(),
    choice,
  )
}

export const apiKeyCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: create, weight: 2 },
  { arbitrary: rotate, weight: 1 },
  { arbitrary: rename, weight: 1 },
  { arbitrary: revoke, weight: 1 },
  { arbitrary: getOwn, weight: 1 },
  { arbitrary: revokeOwn, weight: 1 },
]
