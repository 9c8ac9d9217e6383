// SQL statements on finished sign-ins. They contain the hash of the cookie, never the cookie itself.
import type { Role } from '../../contract/roles.ts'
import type { Tx, Writer } from '../../db/database.ts'

/** A person whom the identity provider has authenticated. */
export interface SignedInPerson {
  subject: string
  name: string
  role: Role
  returnTo: string
}

export async function insertFinishedSignIn(
  db: Writer,
  cookieHash: Buffer,
  { subject, name, role, returnTo }: SignedInPerson,
  seconds: number,
): Promise<void> {
  await db.write({
    name: 'insert_finished_sign_in',
    bounded: 'by the given rows',
    text: `insert into finished_sign_ins (cookie_hash, subject, name, role, return_to, expires_at)
      values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    values: [cookieHash, subject, name, role, returnTo, seconds],
  })
}

/** Deletes the finished sign-in and returns its person, so that one key is issued for it. */
export async function takeFinishedSignIn(tx: Tx, cookieHash: Buffer): Promise<SignedInPerson | undefined> {
  const [row] = await tx.write<SignedInPerson>({
    name: 'take_finished_sign_in',
    bounded: 'by unique keys',
    text: `delete from finished_sign_ins
      where cookie_hash = $1 and expires_at > now()
      returning subject, name, role, return_to as "returnTo"`,
    values: [cookieHash],
  })
  return row
}

/** Deletes the sign-ins whose page did not fetch the key in time. Each of them belongs to an authenticated person. */
export async function deleteExpiredSignIns(db: Writer): Promise<void> {
  await db.write({
    name: 'delete_expired_sign_ins',
    bounded: 'by a small table',
    text: 'delete from finished_sign_ins where expires_at <= now()',
    values: [],
    isIdempotent: true,
  })
}
