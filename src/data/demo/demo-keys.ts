// The API keys of the demo shop: those of people who have signed in, and of three programs. Nobody has the text of these keys.
import { randomBytes } from 'node:crypto'
import { addDeprecatedCalls, insertApiKey, insertPersonalApiKey } from '../../access/api-keys/queries.ts'
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

/** Adds the keys; returns their ids. */
export async function addDemoKeys(tx: Tx, now: Date): Promise<Map<string, bigint>> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const ids = new Map<string, bigint>()
  for (const { subject, name, role, signedInMinutesAgo } of PEOPLE) {
    const apiKey = { subject, name, scopes: ROLE_SCOPES[role], expiresInSeconds: KEY_SECONDS }
    const { id } = await insertPersonalApiKey(tx, randomBytes(HASH_BYTES), apiKey)
    const createdAt = ago(signedInMinutesAgo * MINUTE_MS)
    const expiresAt = new Date(createdAt.getTime() + KEY_SECONDS * 1_000)
    await setBackApiKey(tx, id, { createdAt, expiresAt, lastUsedAt: ago(signedInMinutesAgo * 4_000) })
    ids.set(subject, id)
  }
  for (const { name, scopes, createdDaysAgo, usedMinutesAgo, expiresInDays } of PROGRAMS) {
    const apiKey = { name, scopes, rateLimit: undefined, expiresInSeconds: undefined }
    const { id } = await insertApiKey(tx, randomBytes(HASH_BYTES), apiKey)
    await setBackApiKey(tx, id, {
      createdAt: ago(createdDaysAgo * DAY_MS),
      lastUsedAt: usedMinutesAgo === undefined ? undefined : ago(usedMinutesAgo * MINUTE_MS),
      expiresAt: expiresInDays === undefined ? undefined : ago(-expiresInDays * DAY_MS),
    })
    ids.set(name, id)
  }
  await addDeprecatedCalls(tx, deprecatedCalls(ids.get(DEPRECATED_CALLER) as bigint, ago))
  return ids
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
