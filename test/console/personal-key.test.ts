// How the console reads the personal API key after signing in.
import { expect, test } from 'vitest'
import { readPersonalKey } from '../../console/src/session/personal-key.ts'

const ID = String(2n ** 53n + 1n)
const ACTOR_ID = String(2n ** 53n + 3n)

test.each(['Sam', 'Sam "id":5, ', '"id":6', '\\"id":7', '\\'])(
  'keeps every digit of the ids of the key and of its owner, with the name %j',
  (name) => {
    const rest = JSON.stringify({ key: 'k', name, scopes: [], expiresAt: '2026-11-17', returnTo: '/' }).slice(
      1,
      -1,
    )
    const own = { id: ID, actorId: ACTOR_ID, kind: 'person', name, scopes: [], expiresAt: '2026-11-17' }
    const expected = { apiKey: 'k', own, returnTo: '/' }
    expect(readPersonalKey(`{"id":${ID},"actorId":${ACTOR_ID},${rest}}`)).toEqual(expected)
    expect(readPersonalKey(`{${rest},"actorId":${ACTOR_ID},"id":${ID}}`)).toEqual(expected)
  },
)
