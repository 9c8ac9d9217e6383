// The steps of signing in. The identity provider is not part of them: the service never waits for it in a transaction.
import { hash, randomUUID } from 'node:crypto'
import { insertFinishedSignIn, type SignedInPerson } from '../../../src/access/sign-in/queries.ts'
import { issuePersonalApiKey, purgeSignIns } from '../../../src/access/sign-in/sign-ins.ts'
import { AppError } from '../../../src/contract/errors.ts'
import type { FaultFixture } from './fixture.ts'
import { type Operation, outcomeOfWork } from './operation.ts'

const digest = (text: string) => hash('sha256', text, 'buffer')

function personOf(name: string): SignedInPerson {
  return { subject: name, name, role: 'staff', returnTo: '/' }
}

/** Inserts a finished sign-in, bypassing the proxy. Returns the cookie, which is also the name of the person. */
async function finished({ api }: FaultFixture): Promise<string> {
  const cookie = randomUUID()
  await insertFinishedSignIn(api.db, digest(cookie), personOf(cookie), 60)
  return cookie
}

export const SIGNING_IN: Operation[] = [
  {
    name: 'finishing a sign-in',
    commits: 'insert_finished_sign_in',
    prepare: async ({ query, db }) => {
      const name = randomUUID()
      return {
        // A retry of the service has another cookie.
        run: () => outcomeOfWork(insertFinishedSignIn(db, digest(randomUUID()), personOf(name), 60)),
        effects: () => query('select count(*) from finished_sign_ins where name = $1', [name]),
      }
    },
  },
  {
    name: 'issuing a personal key',
    commits: 'commit',
    isIdempotent: true,
    prepare: async (fixture) => {
      const { query, db } = fixture
      const cookie = await finished(fixture)
      return {
        run: () =>
          outcomeOfWork(
            issuePersonalApiKey(db, 'production', cookie).catch((error: unknown) => {
              // After an unknown outcome, a retry finds that the key was issued.
              if (!(error instanceof AppError) || error.code !== 'sign_in_expired') throw error
            }),
          ),
        effects: () =>
          query('select count(*) from api_keys join actors on actors.id = actor_id where name = $1', [
            cookie,
          ]),
      }
    },
  },
  {
    // Without effects: both statements are idempotent, so the service may report `unavailable` although they have run.
    name: 'purging sign-ins',
    prepare: async (fixture) => {
      const { api, query, db } = fixture
      const cookie = await finished(fixture)
      await issuePersonalApiKey(api.db, 'production', cookie)
      await api.sql(
        `update api_keys set expires_at = now() - interval '40 days' from actors where actors.id = actor_id and name = $1`,
        [cookie],
      )
      return {
        run: async () => {
          const outcome = await outcomeOfWork(purgeSignIns(db))
          const left = await query(
            'select count(*) from api_keys join actors on actors.id = actor_id where name = $1',
            [cookie],
          )
          if (outcome === 'done' && left > 0) throw new Error('a personal key was not purged')
          return outcome
        },
      }
    },
  },
]
