// The actors of the demo shop and their API keys: people who have signed in, and three programs. Nobody has the text of these keys.
import { randomBytes } from 'node:crypto'
import { insertProgram, upsertPerson } from '../../access/api-keys/actor-queries.ts'
import { addDeprecatedCalls, insertApiKey } from '../../access/api-keys/queries.ts'
import { KEY_SECONDS } from '../../access/sign-in/rules.ts'
import { type Role, ROLE_SCOPES } from '../../contract/roles.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Tx } from '../../db/database.ts'
import { type ActorName, OPEN_DAYS } from './demo-past.ts'
import { setBackApiKey } from './queries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HASH_BYTES = 32

const PEOPLE: { subject: ActorName; name: string; role: Role; signedInMinutesAgo: number }[] = [
  { subject: 'ada', name: 'Ada Admin', role: 'admin', signedInMinutesAgo: 95 },
  { subject: 'sam', name: 'Sam Staff', role: 'staff', signedInMinutesAgo: 240 },
  { subject: 'kim', name: 'Kim Keeper', role: 'staff', signedInMinutesAgo: 320 },
]

interface Program {
  name: string
  scopes: readonly Scope[]
  createdDaysAgo: number
  usedMinutesAgo?: number
  expiresInDays?: number
}

const PROGRAMS: Program[] = [
  {
    name: 'web-shop',
    scopes: ['pets:read', 'orders:read', 'orders:write'],
    createdDaysAgo: OPEN_DAYS,
    usedMinutesAgo: 4,
  },
  {
    name: 'till',
    scopes: ['pets:read', 'orders:read', 'orders:write'],
    createdDaysAgo: OPEN_DAYS - 3,
    usedMinutesAgo: 17,
    expiresInDays: 3,
  },
  { name: 'label-printer', scopes: ['pets:read'], createdDaysAgo: 21 },
]
/** Still calls the deprecated `getPet`, on each of so many days. */
const DEPRECATED_CALLER = 'web-shop'
const DEPRECATED_DAYS = 40

/** Adds the actors and their keys; returns the ids of the actors. */
export async function addDemoKeys(tx: Tx, now: Date): Promise<Map<string, bigint>> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const actorIds = new Map<string, bigint>()
  for (const { subject, name, role, signedInMinutesAgo } of PEOPLE) {
    const actorId = await upsertPerson(tx, subject, name)
    const apiKey = { actorId, scopes: ROLE_SCOPES[role], rateLimit: undefined, expiresInSeconds: KEY_SECONDS }
    const { id } = await insertApiKey(tx, randomBytes(HASH_BYTES), apiKey)
    const createdAt = ago(signedInMinutesAgo * MINUTE_MS)
    const expiresAt = new Date(createdAt.getTime() + KEY_SECONDS * 1_000)
    await setBackApiKey(tx, id, { createdAt, expiresAt, lastUsedAt: ago(signedInMinutesAgo * 4_000) })
    actorIds.set(subject, actorId)
  }
  for (const { name, scopes, createdDaysAgo, usedMinutesAgo, expiresInDays } of PROGRAMS) {
    const actorId = await insertProgram(tx, name)
    const apiKey = { actorId, scopes, rateLimit: undefined, expiresInSeconds: undefined }
    const { id } = await insertApiKey(tx, randomBytes(HASH_BYTES), apiKey)
    await setBackApiKey(tx, id, {
      createdAt: ago(createdDaysAgo * DAY_MS),
      lastUsedAt: usedMinutesAgo === undefined ? undefined : ago(usedMinutesAgo * MINUTE_MS),
      expiresAt: expiresInDays === undefined ? undefined : ago(-expiresInDays * DAY_MS),
    })
    actorIds.set(name, actorId)
    if (name === DEPRECATED_CALLER) await addDeprecatedCalls(tx, deprecatedCalls(id, ago))
  }
  return actorIds
}

function deprecatedCalls(apiKeyId: bigint, ago: (ms: number) => Date) {
  return Array.from({ length: DEPRECATED_DAYS }, (_, days) => ({
    apiKeyId,
    operation: 'getPet',
    day: ago(days * DAY_MS)
      .toISOString()
      .slice(0, 'YYYY-MM-DD'.length),
    calls: 20 + ((days * 37) % 60),
  }))
}
