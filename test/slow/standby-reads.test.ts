// Reads from standbys are exact: they see every acknowledged write, and never go back in time.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { hostOf } from '../../src/config/database-url.ts'
import { type Fence, openFence } from '../../src/db/failover/fence.ts'
import type { Db } from '../../src/db/database.ts'
import { INCARNATION } from '../../src/db/failover/incarnation.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { sql, TEST_TIMEOUTS, withServerTimeouts } from '../support/database.ts'
import type { Pet } from '../support/pets.ts'
import { type StandbyNode, startStandbyCluster, writeWal } from '../support/standby-cluster.ts'
import { openStandbyFixture, setReplay, untilWaiting } from '../support/standby-fixture.ts'
import { synchronousReplication } from '../support/synchronous-replication.ts'
import { until } from '../support/until.ts'

const cluster = await startStandbyCluster()
const { primary, standbys } = cluster
const [first, second] = standbys
const { api, db, told, count, warmUp, getFrom, holdPositions } = await openStandbyFixture(cluster)

const WHOLE_QUORUM = 'ANY 1 (n2,n3)'
/** Like `cluster.setQuorum`, for a quorum that confirms no commit: waits until commits wait. */
const { standby: setNames } = synchronousReplication(primary.url)

afterEach(async () => {
  await setReplay(standbys, 'not paused')
  await cluster.setQuorum(WHOLE_QUORUM)
})

/** A transaction of the service's role that is rolled back after the test. */
async function openTransaction(): Promise<Client> {
  const client = new Client(withServerTimeouts(primary.url))
  await client.connect()
  client.on('error', () => {})
  onTestFinished(() => client.end())
  await client.query('begin')
  return client
}

/** The process ids of these backends. */
async function findPids({ url }: StandbyNode, condition: string): Promise<number[]> {
  const rows = await sql<{ pid: number }>(url, `select pid from pg_stat_activity where ${condition}`)
  return rows.map(({ pid }) => pid)
}

/** Stops processes until the test ends, or until the returned function is called. */
function freeze(pids: readonly number[]): () => void {
  let isFrozen = true
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const continueThem = () => {
    if (isFrozen) for (const pid of pids) process.kill(pid, 'SIGCONT')
    isFrozen = false
  }
  onTestFinished(continueThem)
  return continueThem
}

const lastRead = () => told.findLast((text) => text.startsWith('read '))

/** Adds a pet that the standbys have received, but do not replay before `setReplay(standbys, 'not paused')`. */
async function addPetWhilePaused(): Promise<Pet> {
  await setReplay(standbys, 'paused')
  return api.addPet()
}

test('a new pet is read from both standbys', async () => {
  await warmUp(standbys)
  for (const standby of [first, second, first, second]) {
    const { id, name } = await api.addPet()
    expect((await getFrom(standby, `/pets/${id}`)).body).toMatchObject({ id, name })
    expect((await getFrom(standby, '/pets?limit=1')).body).toMatchObject([{ id }])
    expect((await getFrom(standby, `/pets/${id}/history`)).body).toMatchObject([{ event: 'created' }])
    const order = await api.hold({ petId: id })
    expect((await getFrom(standby, `/store/orders/${order.id}`)).body).toEqual(order)
    expect((await getFrom(standby, '/store/orders?limit=1')).body).toEqual([order])
    expect((await getFrom(standby, `/pets?name=${name}&status=pending`)).body).not.toEqual([])
  }
})

test('a read waits until the standby has replayed its position, and reads only then', async () => {
  await warmUp(standbys)
  const { id } = await addPetWhilePaused()
  const reading = api.get(`/pets/${id}`)
  await Promise.race([untilWaiting(standbys), reading])
  await setReplay(standbys, 'not paused')
  expect((await reading).status).toBe(200)
  expect(lastRead()).not.toBe('read primary')
})

test('a pet that the standbys have received but not replayed is read from the primary', async () => {
  const hasty = await openStandbyFixture(cluster, { limits: { replayMs: 200 } })
  await hasty.warmUp(standbys)
  const { id } = await addPetWhilePaused()
  expect((await hasty.api.get(`/pets/${id}`)).status).toBe(200)
  expect(hasty.told.slice(-2)).toEqual(['fallback late', 'read primary'])
  await setReplay(standbys, 'not paused')
  // Both are used again once they are up to date.
  await hasty.warmUp(standbys)
})

test('a read that begins while a position is asked for waits for the next position', async () => {
  await warmUp(standbys)
  await setReplay(standbys, 'paused')
  const held = holdPositions()
  const earlier = api.get('/store/orders?limit=1')
  await until(() => held.count() > 0)
  const { id } = await api.addPet()
  const later = api.get(`/pets/${id}`)
  // The request has reached the service before this one, which needs no position.
  expect((await api.get('/categories')).status).toBe(200)
  held.release()
  await Promise.race([untilWaiting(standbys), later])
  await setReplay(standbys, 'not paused')
  expect((await earlier).status).toBe(200)
  expect((await later).status).toBe(200)
  expect(lastRead()).not.toBe('read primary')
})

test('a read is served by the standby that has replayed its position', async () => {
  await warmUp(standbys)
  await setReplay([second], 'paused')
  const { id } = await api.addPet()
  // One of them uses each standby.
  const reads = [api.get(`/pets?id=${id}`), api.get(`/pets?id=${id}&status=available`)]
  expect((await Promise.race(reads)).body).toMatchObject([{ id }])
  expect(lastRead()).toBe(`read ${hostOf(first.url)}`)
  await setReplay([second], 'not paused')
  for (const { body } of await Promise.all(reads)) expect(body).toMatchObject([{ id }])
  expect(lastRead()).toBe(`read ${hostOf(second.url)}`)
})

test.each(['ANY 1 (n2)', 'FIRST 1 (n2,n3)', 'n2, n3', '', '*', 'ANY 1 (*)', 'ANY 1 (n2,n3,n4)'])(
  'the primary is read while not every standby is part of the quorum: "%s"',
  async (names) => {
    await warmUp(standbys)
    await cluster.setQuorum(names)
    const { id } = await api.addPet()
    const before = told.length
    for (let read = 0; read < 4; read += 1) expect((await api.get(`/pets/${id}`)).status).toBe(200)
    expect(told.slice(before)).toEqual(
      Array.from({ length: 4 }, () => ['fallback quorum', 'read primary']).flat(),
    )
    await cluster.setQuorum(WHOLE_QUORUM)
    await warmUp(standbys)
  },
)

test('a position at the end of a page of the WAL is reached, although its record is not complete', async () => {
  const limited = await openStandbyFixture(cluster, { limits: { replayMs: 10_000 } })
  await limited.warmUp(standbys)
  // Its regular record would complete the other one.
  freeze(await findPids(primary, `backend_type = 'background writer'`))
  const writer = await openTransaction()
  await until(async () => {
    // PostgreSQL writes it without a commit, but not its last part, because that does not fill a page.
    await writer.query(`select pg_logical_emit_message(true, 'test', repeat('x', 50_000))`)
    await sleep(500)
    const positions = await sql<{ isInside: boolean }>(
      primary.url,
      `select pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()
          and (pg_current_wal_flush_lsn() - '0/0'::pg_lsn) % 8192 = 0 as "isInside"`,
    )
    if (positions[0]?.isInside !== true) return false
    const completedBefore = limited.count('complete_record')
    expect((await limited.api.get('/store/orders?limit=1')).status).toBe(200)
    expect(limited.told.at(-1)).not.toBe('read primary')
    // Another process of PostgreSQL can complete the record before the read.
    return limited.count('complete_record') > completedBefore
  })
})

describe('the term', () => {
  const TERM = `select term from primary_term`
  const termsOf = (nodes: readonly StandbyNode[]) =>
    Promise.all(nodes.map(async ({ url }) => (await sql<{ term: string }>(url, TERM))[0]?.term))
  const incarnation = async () =>
    (await sql<{ now: string }>(primary.url, `select ${INCARNATION} as now`))[0]?.now

  const openProcess = (recordsTerm: boolean, timeouts = TEST_TIMEOUTS): Db => {
    const opened = openDatabase({
      ...timeouts,
      databaseUrl: withServerTimeouts(primary.url),
      applicationName: 'petstore-test',
      size: 1,
      onError: () => {},
      recordsTerm,
    })
    onTestFinished(() => opened.close())
    return opened
  }
  const trust = (process: Db) => process.read({ name: 'trust', text: 'select', values: [] })

  test('is the incarnation of the primary, on every server', async () => {
    await warmUp(standbys)
    const term = await incarnation()
    expect(await termsOf([primary, ...standbys])).toEqual([term, term, term])
  })

  test('changes with the incarnation, when a process with reads from standbys trusts it', async () => {
    const before = await incarnation()
    await sql(primary.url, `select pg_stat_reset_shared('bgwriter')`)
    await until(async () => (await incarnation()) !== before)
    // As after a crash, no connection of the former incarnation stays open.
    await sql(
      primary.url,
      `select pg_terminate_backend(pid, 60_000) from pg_stat_activity where application_name = 'petstore-test'`,
    )
    await trust(openProcess(false))
    expect(await termsOf([primary])).toEqual([before])
    await trust(openProcess(true))
    expect(await termsOf([primary])).toEqual([await incarnation()])
    await warmUp(standbys)
    await getFrom(first, `/pets/${(await api.addPet()).id}`)
  })

  test('is no reason to trust a primary whose commits no standby confirms', async () => {
    await setNames('ANY 1 (nobody)')
    expect(await termsOf([primary])).toEqual([await incarnation()])
    const process = openProcess(true, { ...TEST_TIMEOUTS, queryTimeoutMs: 500, retryForMs: 0 })
    await expect(trust(process)).rejects.toMatchObject({ code: 'unavailable' })
    await cluster.setQuorum(WHOLE_QUORUM)
    await until(async () => (await trust(process).catch(() => undefined)) !== undefined)
  })
})

describe('a read that a standby does not finish is served by the primary', () => {
  /** Blocks reads of orders on all servers. */
  async function blockOrders(): Promise<Client> {
    const locker = await openTransaction()
    await locker.query('lock table orders in access exclusive mode')
    const text = `select from pg_locks where relation = 'orders'::regclass and mode = 'AccessExclusiveLock'`
    await until(async () => {
      await sql(primary.url, `select pg_logical_emit_message(true, 'test', '')`)
      const locks = await Promise.all(standbys.map(({ url }) => sql(url, text)))
      return locks.every(({ length }) => length > 0)
    })
    return locker
  }

  test.each([
    ['the statement is cancelled', 'pg_cancel_backend(pid)', 'failed'],
    ['the connection is lost', 'pg_terminate_backend(pid)', 'late'],
  ])('%s', async (_fault, fault, reason) => {
    await warmUp(standbys)
    const locker = await blockOrders()
    const reading = api.get('/store/orders?limit=1')
    const text = `select ${fault} from pg_stat_activity where wait_event_type = 'Lock' and usename = 'petstore_app'`
    await until(async () => {
      const ended = await Promise.all(standbys.map(({ url }) => sql(url, text)))
      return ended.flat().length > 0
    })
    await locker.query('rollback')
    expect((await reading).status).toBe(200)
    expect(told.slice(-2)).toEqual([`fallback ${reason}`, 'read primary'])
    await warmUp(standbys)
  })

  test('the standby is frozen', async () => {
    const hasty = await openStandbyFixture(cluster, { limits: { replayMs: 300 } })
    await hasty.warmUp(standbys)
    const continueThem = freeze(await findPids(first, `usename = 'petstore_app'`))
    const { id } = await api.addPet()
    await until(async () => {
      expect((await hasty.api.get(`/pets/${id}`)).status).toBe(200)
      return hasty.leftOut.includes(hostOf(first.url))
    })
    expect(hasty.told.slice(-2)).toEqual(['fallback late', 'read primary'])
    await hasty.getFrom(second, `/pets/${id}`)
    continueThem()
    await hasty.getFrom(first, `/pets/${id}`)
  })

  test('the result arrives too late', async () => {
    let isSlow = false
    const resultMs = 1_000
    const limited = await openStandbyFixture(cluster, {
      limits: { resultMs },
      onStandbyQuery: () => {
        // The process is frozen after PostgreSQL has sent the result.
        if (isSlow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, resultMs + 10)
      },
    })
    await limited.warmUp(standbys)
    isSlow = true
    expect((await limited.api.get('/store/orders?limit=1')).status).toBe(200)
    expect(limited.told.slice(-2)).toEqual(['fallback late', 'read primary'])
    isSlow = false
    await limited.warmUp(standbys)
  })
})

describe('a commit that the standbys show, but the primary does not show yet', () => {
  /** From now on, no standby confirms a commit. Both standbys replay it, and stay a whole quorum. */
  const stopConfirming = () => setNames('ANY 2 (n2,nobody)')
  /** Like `stopConfirming`, but the standbys are no whole quorum, so the primary is read. */
  const readPrimary = () => cluster.setQuorum('ANY 1 (nobody)')
  const confirm = () => cluster.setQuorum(WHOLE_QUORUM)

  /** Creates a pet whose commit is not confirmed, and waits until both standbys show it. */
  async function createUnconfirmed(name: string): Promise<{ id: number; created: Promise<number> }> {
    await warmUp(standbys)
    await stopConfirming()
    const created = api.post('/pets', { name, categoryId: 1 }).then(({ status }) => status)
    let pet: Pet | undefined
    for (const standby of standbys) {
      await until(async () => {
        pet = ((await getFrom(standby, `/pets?name=${name}`)).body as Pet[])[0]
        return pet !== undefined
      })
    }
    expect(await sql(primary.url, 'select from pets where name = $1', [name])).toEqual([])
    return { id: pet?.id ?? 0, created }
  }

  /** Waits until a fence waits for commits, or the response has arrived without that. */
  async function untilFenced(response: Promise<unknown>): Promise<void> {
    const before = count('find_transactions')
    await Promise.race([response, until(() => count('find_transactions') > before + 2)])
  }

  test('is not missing when the standby that shows it stops, and the other one is frozen', async () => {
    const hasty = await openStandbyFixture(cluster, { limits: { replayMs: 2_000 } })
    await hasty.warmUp(standbys)
    await cluster.setQuorum('ANY 2 (n2,n3)')
    const continueIt = freeze(await findPids(second, `backend_type = 'walreceiver'`))
    await writeWal(primary)
    await until(async () => {
      expect((await hasty.api.get('/pets?limit=1')).status).toBe(200)
      return hasty.leftOut.includes(hostOf(second.url))
    })
    const created = hasty.api.post('/pets', { name: 'vanishing', categoryId: 1 })
    await until(async () => {
      const { body } = await hasty.getFrom(first, '/pets?limit=1')
      return (body as Pet[])[0]?.name === 'vanishing'
    })
    await first.server.stop()
    const before = hasty.count('find_transactions')
    const listing = hasty.api.get('/pets?limit=1')
    await Promise.race([listing, until(() => hasty.count('find_transactions') > before + 2)])
    continueIt()
    await cluster.start(first)
    expect((await listing).body).toMatchObject([{ name: 'vanishing' }])
    expect(hasty.told.at(-1)).toBe('read primary')
    expect((await created).status).toBe(201)
    await hasty.warmUp(standbys)
  })

  test('is not missing from a list of the primary', async () => {
    const { id, created } = await createUnconfirmed('listed')
    await readPrimary()
    const listing = api.get('/pets?limit=1')
    await untilFenced(listing)
    await confirm()
    expect((await listing).body).toMatchObject([{ id }])
    expect(told.slice(-2)).toEqual(['fallback quorum', 'read primary'])
    expect(await created).toBe(201)
  })

  test('is counted by the inventory', async () => {
    const { body: before } = await api.get('/store/inventory')
    const { created } = await createUnconfirmed('counted')
    const counting = api.get('/store/inventory')
    await untilFenced(counting)
    await confirm()
    expect((await counting).body).toMatchObject({
      available: (before as { available: number }).available + 1,
    })
    expect(await created).toBe(201)
  })

  test.each<[string, number, (petId: number) => Promise<{ status: number; text: string }>]>([
    ['placeOrder', 201, (petId) => api.post('/store/orders', { petId })],
    ['updatePet', 200, (petId) => api.patch(petId, { name: 'changed' })],
    ['deletePet', 204, (petId) => api.remove(`/pets/${petId}`)],
  ])('%s finds a pet that a standby shows', async (operation, status, send) => {
    const { id, created } = await createUnconfirmed(operation)
    const sending = send(id)
    await untilFenced(sending)
    await confirm()
    expect(await sending).toMatchObject({ status })
    expect(await created).toBe(201)
  })

  test.each(['complete', 'cancel'] as const)('%sOrder finds an order that a standby shows', async (verb) => {
    const { id: petId } = await api.addPet()
    await warmUp(standbys)
    await stopConfirming()
    const placing = api.post('/store/orders', { petId })
    let order: { id: number } | undefined
    await until(async () => {
      const { body } = await getFrom(first, `/store/orders?petId=${petId}`)
      order = (body as { id: number }[])[0]
      return order !== undefined
    })
    const ending = api.end(verb, order?.id ?? 0)
    await untilFenced(ending)
    await confirm()
    expect((await ending).status).toBe(200)
    expect((await placing).status).toBe(201)
  })

  /** Waits for a fence while the pet is not confirmed. Returns false if the fence timed out. */
  async function fencePet(fence: Fence, petName: string, timeouts: () => number): Promise<boolean> {
    const before = timeouts()
    const shown = fence().then(() => sql(primary.url, 'select from pets where name = $1', [petName]))
    await untilFenced(shown)
    await confirm()
    const rows = await shown
    if (timeouts() > before) return false
    expect(rows).toHaveLength(1)
    return true
  }

  const FENCE_MS = 1_000

  test('is waited for beside a transaction that outlived an earlier fence', async () => {
    let timeouts = 0
    const fence = openFence(db, FENCE_MS, () => {
      timeouts += 1
    })
    const importing = await openTransaction()
    await importing.query('select pg_current_xact_id()')
    await fence()
    expect(timeouts).toBe(1)
    await fence()
    expect(timeouts).toBe(1)
    for (let round = 1, isDone = false; !isDone; round += 1) {
      const { created } = await createUnconfirmed(`beside ${round}`)
      isDone = await fencePet(fence, `beside ${round}`, () => timeouts)
      expect(await created).toBe(201)
    }
  })

  test('is waited for if its transaction outlived an earlier fence before it committed', async () => {
    let timeouts = 0
    const fence = openFence(db, FENCE_MS, () => {
      timeouts += 1
    })
    for (let round = 1, isDone = false; !isDone; round += 1) {
      const name = `imported ${round}`
      const importing = await openTransaction()
      await importing.query('insert into pets (name, category_id) values ($1, 1)', [name])
      const before = timeouts
      await fence()
      expect(timeouts).toBe(before + 1)
      await stopConfirming()
      const committing = importing.query('commit')
      await until(async () => (await findPids(primary, `wait_event = 'SyncRep'`)).length === 1)
      isDone = await fencePet(fence, name, () => timeouts)
      await committing
    }
  })
})
