// Clients that check that a read sees every write that was acknowledged before the read began, and everything that any
// reader has seen before. The load balancer sends the reads to both instances.
import { pick, type Random } from '../parts/random.ts'
import { type Reply, waitPolitely } from './client.ts'
import { type LoadContext, pace, type Worker } from './context.ts'
import type { OperationName } from './documented.ts'
import type { AcknowledgedOrder } from './history.ts'

/** Four readers with this period read 130 times per second. */
const PERIOD_MS = 30
const RECENT_IDS = 50

interface Pet {
  id: number
  name: string
}

export const reader: Worker = async (context, random, index) => {
  while (!context.stopping) {
    const startedAt = performance.now()
    await pick(random, READS)?.(context, random, index)
    await pace(context, random, startedAt, PERIOD_MS)
  }
}

type Read = (context: LoadContext, random: Random, index: number) => Promise<void>

async function readNewest(context: LoadContext, random: Random, index: number): Promise<void> {
  const floor = context.newestPetId
  const reply = await read(context, random, 'listPets', '/pets?limit=1')
  if (reply === undefined) return
  const newest = (reply.body as Pet[])[0]?.id ?? 0
  if (newest >= floor) {
    context.newestPetId = Math.max(context.newestPetId, newest)
    return
  }
  const text = `reader ${index} saw pet ${newest} as the newest, after pet ${floor} was acknowledged or read`
  context.violations.add({ kind: 'staleRead', subject: `newest ${floor}`, text })
  // Reports each loss once, not in every later read.
  context.newestPetId = Math.min(context.newestPetId, newest)
}

async function readRecentPet(context: LoadContext, random: Random): Promise<void> {
  await readPet(context, random, pick(random, context.recentPets.slice(-RECENT_IDS)))
}

/** A pet whose version increases during the whole run. */
async function readChangingPet(context: LoadContext, random: Random): Promise<void> {
  await readPet(context, random, pick(random, [...context.history.statuses.keys()]))
}

async function readPet(context: LoadContext, random: Random, id: number | undefined): Promise<void> {
  const { history, versionsRead, violations } = context
  const name = id === undefined ? undefined : history.pets.get(id)
  if (id === undefined || name === undefined) return
  const floor = Math.max(history.statuses.get(id)?.version ?? 1, versionsRead.get(id) ?? 1)
  const reply = await read(context, random, 'listPets', `/pets?id=${id}`)
  if (reply === undefined) return
  const found = (reply.body as Pet[])[0]
  const { version = 0 } = reply
  if (found === undefined) {
    const text = `pet ${id} was acknowledged, and a later read did not find it`
    violations.add({ kind: 'staleRead', subject: `${id}`, text })
  } else if (found.name !== name) {
    const text = `pet ${id}: ${name} was read as ${found.name}`
    violations.add({ kind: 'changed', subject: `${id}`, text })
  } else if (version < floor) {
    const text = `pet ${id} was read with version ${version}, after version ${floor} was acknowledged or read`
    violations.add({ kind: 'staleRead', subject: `${id} ${floor}`, text })
  } else {
    versionsRead.set(id, Math.max(versionsRead.get(id) ?? 1, version))
  }
}

async function readOrder(context: LoadContext, random: Random): Promise<void> {
  const { history, recentOrders, violations } = context
  const id = pick(random, recentOrders)
  const before = id === undefined ? undefined : history.orders.get(id)?.state
  if (id === undefined || before === undefined) return
  const reply = await read(context, random, 'getOrder', `/store/orders/${id}`)
  if (reply === undefined) return
  const { status } = (reply.body ?? {}) as { status?: string }
  if (reply.status === 200 && (!isClosed(before) || status === before)) return
  const text = `order ${id} was ${before}, and a later read returned ${status ?? reply.result}`
  violations.add({ kind: 'staleRead', subject: `order ${id} ${before}`, text })
}

/** The status of such an order does not change any more. */
const isClosed = (state: AcknowledgedOrder['state']) => state === 'completed' || state === 'cancelled'

/** Each of them is as frequent as the others. */
const READS: readonly Read[] = [readNewest, readRecentPet, readChangingPet, readOrder]

/** Returns undefined if the service did not read: after 503, or without a response. */
async function read(
  context: LoadContext,
  random: Random,
  operation: OperationName,
  path: string,
): Promise<Reply | undefined> {
  const reply = await context.client.send(operation, { method: 'GET', path })
  if (reply.outcome !== 'done' && reply.status !== 404) {
    await waitPolitely(reply, random)
    return undefined
  }
  context.activity.record('reads')
  context.totals.reads += 1
  return reply
}
