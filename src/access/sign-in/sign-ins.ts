// Signing in: starts at the identity provider, verifies the person who returns, and issues a personal API key once.
// A cookie binds each step to the browser.
import { hash, randomBytes } from 'node:crypto'
import { AppError } from '../../contract/errors.ts'
import { ROLE_SCOPES, type Role } from '../../contract/roles.ts'
import type { Db } from '../../db/database.ts'
import { createPersonalApiKey, type IssuedApiKey } from '../api-keys/api-keys.ts'
import type { Environment } from '../api-keys/format.ts'
import { purgePersonalApiKeys } from '../api-keys/queries.ts'
import type { IdentityProvider } from './provider.ts'
import { deleteExpiredSignIns, insertFinishedSignIn, takeFinishedSignIn } from './queries.ts'
import {
  HAND_OVER_SECONDS,
  KEY_SECONDS,
  KEYS_PER_PERSON_MAX,
  PURGED_AFTER_DAYS,
  readReturnTo,
  SIGN_IN_SECONDS,
  SignInError,
} from './rules.ts'
import { unsealSignIn, sealSignIn } from './sealed-sign-in.ts'

const SECRET_BYTES = 32
const PURGE_BATCH = 1_000
export const SIGN_INS_PURGED_EVERY_MS = 60_000

/** Starts a sign-in. Returns the address of the identity provider, and the cookie for the browser. */
export async function startSignIn(
  provider: IdentityProvider,
  options: { redirectUri: string; returnTo: string | undefined; now: Date },
): Promise<{ address: string; cookie: string }> {
  const { address, state, ...rest } = await provider.begin(options.redirectUri)
  const expiresAtMs = options.now.getTime() + SIGN_IN_SECONDS * 1_000
  const returnTo = readReturnTo(options.returnTo)
  return { address, cookie: sealSignIn(state, { ...rest, returnTo, expiresAtMs }) }
}

/**
 * Verifies the person who returned from the identity provider. Returns a secret, with which the same browser gets the key.
 * The provider accepts a code once. `verifying` contains the states that this process verifies now: at some providers, a
 * second request with the same code would also make the first one fail.
 */
export async function finishSignIn(
  db: Db,
  provider: IdentityProvider,
  { address, cookie, now, verifying }: { address: URL; cookie: string; now: Date; verifying: Set<string> },
): Promise<{ secret: string; role: Role }> {
  const state = address.searchParams.get('state') ?? ''
  const started = unsealSignIn(state, cookie)
  const isValid = started !== undefined && started.expiresAtMs > now.getTime()
  if (!isValid || verifying.has(state)) throw new SignInError('sign_in_expired')
  verifying.add(state)
  try {
    const { nonce, codeVerifier } = started
    const person = await provider.finish(address, { state, nonce, codeVerifier })
    const secret = makeSecret()
    // A browser can encrypt a cookie of its own, with any path.
    const returnTo = readReturnTo(started.returnTo)
    await insertFinishedSignIn(db, digest(secret), { ...person, returnTo }, HAND_OVER_SECONDS)
    return { secret, role: person.role }
  } finally {
    verifying.delete(state)
  }
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

/** Deletes sign-ins whose page did not fetch the key, and purges personal keys that ended long ago. */
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
