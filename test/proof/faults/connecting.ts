// Opening a connection with a password: faults before the first statement.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, inject } from 'vitest'
import { sql } from '../../support/database.ts'
import type { FaultFixture } from './fixture.ts'
import { CATEGORY, type Operation, outcomeOf } from './operation.ts'

/** A role that must authenticate with SCRAM. The PostgreSQL of the tests trusts every other role on this machine. */
export async function createRole(): Promise<{ name: string; password: string }> {
  const role = { name: `faults_${randomUUID().slice(0, 8)}`, password: randomUUID() }
  const serverUrl = inject('serverUrl')
  await sql(serverUrl, `create role ${role.name} login superuser password '${role.password}'`)
  const [setting] = await sql<{ hba_file: string }>(serverUrl, 'show hba_file')
  const file = setting?.hba_file ?? ''
  const before = readFileSync(file, 'utf8')
  writeFileSync(file, `host all ${role.name} 127.0.0.1/32 scram-sha-256\n${before}`)
  await sql(serverUrl, 'select pg_reload_conf()')
  afterAll(async () => {
    writeFileSync(file, before)
    await sql(serverUrl, 'select pg_reload_conf()')
    await sql(serverUrl, `drop role ${role.name}`)
  })
  return role
}

export const CONNECTING: Operation[] = [
  {
    name: 'createPet on a new connection',
    commits: 'insert_pets',
    prepare: async (fixture) => {
      await dropConnections(fixture)
      const name = randomUUID()
      return {
        run: async () => outcomeOf(await fixture.client.post('/pets', { name, categoryId: CATEGORY }), 201),
        effects: () => fixture.query('select count(*) from pets where name = $1', [name]),
      }
    },
  },
  {
    name: 'listOrders on a new connection',
    prepare: async (fixture) => {
      await dropConnections(fixture)
      return { run: async () => outcomeOf(await fixture.client.get('/store/orders'), 200) }
    },
  },
]

async function dropConnections({ db, proxy }: FaultFixture): Promise<void> {
  proxy.cut()
  while (db.connections().total > 0) await turn()
}
