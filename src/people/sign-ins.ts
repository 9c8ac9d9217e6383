// Signing in: starts at the identity provider, verifies the person who returns, and issues a personal API key once.
// Knows nothing about HTTP; the SQL is in queries.ts. `secret` is the value of the cookie that binds the browser.
import { hash, randomBytes } from 'node:crypto'
import { createPersonalApiKey, type IssuedApiKey } from '../api-keys/api-keys.ts'
import type { Environment } from '../api-keys/format.ts'
import { purgePersonalApiKeys } from '../api-keys/queries.ts'
import type { Db } from '../db/database.ts'
import { AppError } from '../errors.ts'
import { ROLE_SCOPES, type Role } from '../roles.ts'
import type { IdentityProvider } from './provider.ts'
import {
  deleteExpiredSignIns,
  insertFinishedSignIn,
  insertSignIn,
  takeFinishedSignIn,
  takeSignIn,
} from './queries.ts'
import {
  HAND_OVER_SECONDS,
  KEY_SECONDS,
  KEYS_PER_PERSON_MAX,
  PURGED_AFTER_DAYS,
  readReturnTo,
  SIGN_IN_SECONDS,
  SIGN_INS_MAX,
  SignInError,
} from './rules.ts'

const SECRET_BYTES = 32
const PURGE_BATCH = 1_000
export const SIGN_INS_PURGED_EVERY_MS = 60_000

/**
 * Starts a sign-in. Returns the address of the identity provider, and a new secret: a secret that the browser already
 * has could come from an attacker.
 */
export async function startSignIn(
  db: Db,
  provider: IdentityProvider,
  options: { redirectUri: string; returnTo: string | undefined; forceLogin: boolean },
): Promise<{ address: string; secret: string }> {
  const { address, state, ...rest } = await provider.begin(options.redirectUri, options.forceLogin)
  const secret = makeSecret()
  const isInserted = await insertSignIn(
    db,
    { state: digest(state), cookie: digest(secret) },
    { ...rest, returnTo: readReturnTo(options.returnTo) },
    { seconds: SIGN_IN_SECONDS, rowsMax: SIGN_INS_MAX },
  )
  if (!isInserted) throw new SignInError('overloaded')
  return { address, secret }
}

/**
 * Verifies the person who returned from the identity provider. Returns another secret, with which the same browser gets
 * the key. The sign-in is consumed before the provider is asked, so that a code is sent to the provider once.
 */
export async function finishSignIn(
  db: Db,
  provider: IdentityProvider,
  { address, secret }: { address: URL; secret: string },
): Promise<{ secret: string; role: Role }> {
  const state = address.searchParams.get('state') ?? ''
  const signIn = await takeSignIn(db, { state: digest(state), cookie: digest(secret) })
  if (signIn === undefined) throw new SignInError('sign_in_expired')
  const { returnTo, ...expected } = signIn
  const person = await provider.finish(address, { state, ...expected })
  const next = makeSecret()
  await insertFinishedSignIn(db, digest(next), { ...person, returnTo }, HAND_OVER_SECONDS)
  return { secret: next, role: person.role }
}

/** Issues the key of a person, once. */
export async function issuePersonalApiKey(
  db: Db,
  environment: Environment,
  secret: string,
): Promise<{ issued: IssuedApiKey; role: Role; returnTo: string }> {
  return db.transaction(async (tx) => {
    const person = await takeFinishedSignIn(tx, digest(secret))
    if (person === undefined) throw new AppError('sign_in_expired')
    const { name, subject, role, returnTo } = person
    const issued = await createPersonalApiKey(
      tx,
      environment,
      { name, subject, scopes: ROLE_SCOPES[role], expiresInSeconds: KEY_SECONDS },
      KEYS_PER_PERSON_MAX,
    )
    return { issued, role, returnTo }
  })
}

/** Deletes unfinished sign-ins, and purges personal keys that ended long ago. */
export async function purgeSignIns(db: Db): Promise<void> {
  await deleteExpiredSignIns(db)
  while ((await purgePersonalApiKeys(db, PURGED_AFTER_DAYS, PURGE_BATCH)) === PURGE_BATCH);
}

function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
