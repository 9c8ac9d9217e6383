// SQL statements on sign-ins. They contain hashes of the cookie and of `state`, never the values themselves.
// Knows nothing about HTTP.
import type { Tx, Writer } from '../db/database.ts'
import type { Role } from '../roles.ts'

export interface SignIn {
  nonce: string
  codeVerifier: string
  returnTo: string
}

/** A person whom the identity provider has authenticated. */
export interface SignedInPerson {
  subject: string
  name: string
  role: Role
  returnTo: string
}

/** Returns false, without a row, if `rowsMax` sign-ins are in progress. Concurrent inserts can exceed the max slightly. */
export async function insertSignIn(
  db: Writer,
  hashes: { state: Buffer; cookie: Buffer },
  { nonce, codeVerifier, returnTo }: SignIn,
  limits: { seconds: number; rowsMax: number },
): Promise<boolean> {
  const rows = await db.write({
    name: 'insert_sign_in',
    text: `insert into sign_ins (state_hash, cookie_hash, nonce, code_verifier, return_to, expires_at)
      select $1, $2, $3, $4, $5, now() + make_interval(secs => $6)
      where (select count(*) from (select from sign_ins where expires_at > now() limit $7) as counted) < $7
      returning 1`,
    values: [hashes.state, hashes.cookie, nonce, codeVerifier, returnTo, limits.seconds, limits.rowsMax],
  })
  return rows.length > 0
}

/** Deletes the sign-in and returns it, so that it can be used once. Another browser, without the cookie, finds nothing. */
export async function takeSignIn(
  db: Writer,
  hashes: { state: Buffer; cookie: Buffer },
): Promise<SignIn | undefined> {
  const [row] = await db.write<SignIn>({
    name: 'take_sign_in',
    text: `delete from sign_ins
      where state_hash = $1 and cookie_hash = $2 and expires_at > now()
      returning nonce, code_verifier as "codeVerifier", return_to as "returnTo"`,
    values: [hashes.state, hashes.cookie],
  })
  return row
}

export async function insertFinishedSignIn(
  db: Writer,
  cookieHash: Buffer,
  { subject, name, role, returnTo }: SignedInPerson,
  seconds: number,
): Promise<void> {
  await db.write({
    name: 'insert_finished_sign_in',
    text: `insert into finished_sign_ins (cookie_hash, subject, name, role, return_to, expires_at)
      values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    values: [cookieHash, subject, name, role, returnTo, seconds],
  })
}

/** Deletes the finished sign-in and returns its person, so that one key is issued for it. */
export async function takeFinishedSignIn(tx: Tx, cookieHash: Buffer): Promise<SignedInPerson | undefined> {
  const [row] = await tx.write<SignedInPerson>({
    name: 'take_finished_sign_in',
    text: `delete from finished_sign_ins
      where cookie_hash = $1 and expires_at > now()
      returning subject, name, role, return_to as "returnTo"`,
    values: [cookieHash],
  })
  return row
}

/** Deletes the sign-ins that were not finished in time. Their number is limited by SIGN_INS_MAX. */
export async function deleteExpiredSignIns(db: Writer): Promise<void> {
  await db.write({
    name: 'delete_expired_sign_ins',
    text: `with expired as (delete from finished_sign_ins where expires_at <= now())
      delete from sign_ins where expires_at <= now()`,
    values: [],
    isIdempotent: true,
  })
}
