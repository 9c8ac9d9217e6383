// Rules for API keys: create, list, rename, rotate, revoke and verify.
import { type ActorKind, isServiceName } from '../../contract/actor.ts'
import type { Caller } from '../../contract/caller.ts'
import { AppError } from '../../contract/errors.ts'
import { type Page, type PageRequest, toPage } from '../../contract/paging.ts'
import { batchTrace } from '../../db/batch-spans.ts'
import { batched } from '../../db/batch.ts'
import type { Db, Tx } from '../../db/database.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { insertProgram, upsertPerson } from './actor-queries.ts'
import { type Environment, hashApiKey, isApiKeyText, makeApiKeyText } from './format.ts'
import {
  type ApiKeyToInsert,
  findApiKeysBefore,
  findApiKeysByIds,
  findCallersByHashes,
  insertApiKey,
  retireApiKey,
  revokeOldestApiKeys,
  setApiKeyRevoked,
  setProgramName,
} from './queries.ts'
import { SERVICE_NAME_FAULT } from './rules.ts'
import type { ApiKey, NewApiKey, NewPersonalApiKey } from './schema.ts'

/** How long the result of a look-up is cached. A revocation takes effect within this time. */
const BELIEVED_FOR_MS = 1_000
/** Max cached look-ups of valid keys. */
const KNOWN_MAX = 10_000
/** Max cached look-ups of invalid keys. They are cached separately, so that they do not fill the cache of valid keys. */
const UNKNOWN_MAX = 10_000

/** Look-ups of different keys are batched, so that a flood of unknown keys uses only one connection. */
const LOOK_UPS = { sizeMax: 100, inFlightMax: 1, waitingMax: 2_000 }

export interface IssuedApiKey extends ApiKey {
  /** The key itself. It is not stored, so it can be shown only now. */
  text: string
}

/** Creates a program and its key. */
export async function createApiKey(
  db: Pick<Db, 'transaction'>,
  environment: Environment,
  { name, ...apiKey }: NewApiKey,
): Promise<IssuedApiKey> {
  requireProgramName(name)
  return db.transaction(async (tx) =>
    issueApiKey(tx, environment, { ...apiKey, actorId: await insertProgram(tx, name) }),
  )
}

function requireProgramName(name: string): void {
  if (!isServiceName(name)) return
  const fault = { field: 'name', code: 'reserved', message: SERVICE_NAME_FAULT } as const
  throw new AppError('invalid_body', { details: [fault] })
}

async function issueApiKey(tx: Tx, environment: Environment, apiKey: ApiKeyToInsert): Promise<IssuedApiKey> {
  const text = makeApiKeyText(environment)
  return { text, ...(await insertApiKey(tx, hashApiKey(text), apiKey)) }
}

/** Creates a key for a person who has signed in. Revokes the person's oldest keys beyond `keysMax` valid ones. */
export async function createPersonalApiKey(
  tx: Tx,
  environment: Environment,
  { subject, name, scopes, expiresInSeconds }: NewPersonalApiKey,
  keysMax: number,
): Promise<IssuedApiKey> {
  const actorId = await upsertPerson(tx, subject, name)
  await revokeOldestApiKeys(tx, actorId, keysMax - 1)
  return issueApiKey(tx, environment, { actorId, scopes, rateLimit: undefined, expiresInSeconds })
}

/**
 * Renames the program that a key belongs to. All its keys have the new name, and so have its earlier changes. A person has
 * the name of the newest sign-in.
 */
export async function renameApiKey(db: Pick<Db, 'write'>, id: bigint, name: string): Promise<ApiKey> {
  requireProgramName(name)
  return orNotFound(await setProgramName(db, id, name))
}

export async function getApiKey(db: Db, id: bigint): Promise<ApiKey> {
  const [apiKey] = await findApiKeysByIds(db, [id])
  return orNotFound(apiKey)
}

/** Lists keys, newest first, including expired and revoked keys of programs. */
export async function listApiKeys(
  db: Db,
  kind: ActorKind | undefined,
  { after, limit }: PageRequest,
): Promise<Page<ApiKey>> {
  const found = await findApiKeysBefore(db, kind, after?.id, limit + 1)
  return toPage(found, limit, ({ id }) => ({ id, sortKey: '' }))
}

/**
 * Creates a key of the same actor, with the same scopes, rate limit and lifetime. The old key stays valid during the overlap, unless
 * it expires earlier. A personal key cannot be rotated: an administrator would get a key in the name of the person.
 */
export async function rotateApiKey(
  db: Db,
  environment: Environment,
  id: bigint,
  overlapSeconds: number,
): Promise<IssuedApiKey> {
  return db.transaction(async (tx) => {
    const successor = orNotFound(await retireApiKey(tx, id, overlapSeconds))
    return issueApiKey(tx, environment, successor)
  })
}

/** Revokes a key. Idempotent: a key that is already revoked keeps its time of revocation. */
export async function revokeApiKey(db: Pick<Db, 'write'>, id: bigint): Promise<ApiKey> {
  return orNotFound(await setApiKeyRevoked(db, id))
}

function orNotFound<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new AppError('api_key_not_found')
  return found
}

/** A look-up of a key, in flight or done. Its result reflects the database at `startedAt` or later. */
interface LookUp {
  startedAt: number
  caller: Promise<Caller | undefined>
  /** The result, once the look-up is done. */
  found?: Caller | undefined
  isDone: boolean
}

/**
 * Returns the caller of a key; undefined if the key is invalid. Returns cached results synchronously, so that most
 * requests need no promise. Awaits `beforeLookUp`, which may reject, before it looks up a key that this process has not
 * found valid before.
 */
export type VerifyApiKey = (
  text: string,
  beforeLookUp?: () => Promise<void> | undefined,
) => Caller | undefined | Promise<Caller | undefined>

/**
 * Returns a function that finds the caller of a key. Each key is looked up at most once a second: concurrent look-ups
 * of a key are coalesced, and results are cached. A failed look-up is not cached.
 */
export function apiKeyVerifier(
  db: Db,
  environment: Environment,
  now = () => performance.now(),
  tracing?: Tracing,
): VerifyApiKey {
  const findCaller = batched(
    async (hashes: string[]) => {
      const callers = await findCallersByHashes(
        db,
        hashes.map((hash) => Buffer.from(hash, 'hex')),
      )
      return hashes.map((hash) => callers.get(hash))
    },
    LOOK_UPS,
    undefined,
    batchTrace(tracing, 'findCaller'),
  )
  // Indexed by the text of the key, not by its hash, because hashing took 5% of the time of a read.
  const known = new Map<string, LookUp>()
  const unknown = new Map<string, LookUp>()

  function start(text: string): LookUp {
    const caller = findCaller(hashApiKey(text).toString('hex'))
    const lookUp: LookUp = { startedAt: now(), caller, isDone: false }
    cache(known, KNOWN_MAX, text, lookUp)
    void settle(text, lookUp)
    return lookUp
  }

  async function settle(text: string, lookUp: LookUp): Promise<void> {
    const found = await lookUp.caller.catch(() => 'failed' as const)
    if (found === 'failed') return forget(known, text, lookUp)
    lookUp.found = found
    lookUp.isDone = true
    if (found !== undefined) return
    forget(known, text, lookUp)
    cache(unknown, UNKNOWN_MAX, text, lookUp)
  }

  const verify: VerifyApiKey = (text, beforeLookUp) => {
    const cached = known.get(text) ?? unknown.get(text)
    if (cached !== undefined && now() - cached.startedAt < BELIEVED_FOR_MS) {
      return cached.isDone ? cached.found : cached.caller
    }
    if (!isApiKeyText(text, environment)) return undefined
    const checked = known.has(text) ? undefined : beforeLookUp?.()
    // Meanwhile, another request may have looked up the key.
    return checked === undefined ? start(text).caller : checked.then(() => verify(text))
  }
  return verify
}

function cache(lookUps: Map<string, LookUp>, max: number, text: string, lookUp: LookUp): void {
  lookUps.delete(text)
  lookUps.set(text, lookUp)
  // A map iterates in the order of insertion, so its first entry is the oldest.
  const [oldest] = lookUps.keys()
  if (lookUps.size > max && oldest !== undefined) lookUps.delete(oldest)
}

function forget(lookUps: Map<string, LookUp>, text: string, lookUp: LookUp): void {
  if (lookUps.get(text) === lookUp) lookUps.delete(text)
}
