// Clients that check that a read sees every write that was acknowledged before the read began.
import { pick, type Random } from '../parts/random.ts'
import { waitPolitely } from './client.ts'
import { type LoadContext, pace, type Worker } from './context.ts'

/** Four readers with this period read 130 times per second. */
const PERIOD_MS = 30
const BY_ID_SHARE = 0.5
const RECENT_IDS = 50

interface Pet {
  id: number
  name: string
}

export const reader: Worker = async (context, random, index) => {
  let newestSeen = 0
  while (!context.stopping) {
    const startedAt = performance.now()
    if (random() < BY_ID_SHARE) await readById(context, random)
    else newestSeen = await readNewest(context, random, index, newestSeen)
    await pace(context, random, startedAt, PERIOD_MS)
  }
}

async function readNewest(
  context: LoadContext,
  random: Random,
  index: number,
  newestSeen: number,
): Promise<number> {
  const floor = Math.max(newestSeen, context.newestPetId)
  const reply = await context.client.send('listPets', { method: 'GET', path: '/pets?limit=1' })
  if (reply.outcome !== 'done') {
    await waitPolitely(reply, random)
    return newestSeen
  }
  recordRead(context)
  const newest = (reply.body as Pet[])[0]?.id ?? 0
  if (newest >= floor) return Math.max(newestSeen, newest)
  const text = `reader ${index} saw pet ${newest} as the newest, after pet ${floor} was acknowledged or read`
  context.violations.add({ kind: 'staleRead', subject: `${index} ${floor}`, text })
  // Reports each loss once, not in every later read.
  context.newestPetId = Math.min(context.newestPetId, newest)
  return newest
}

async function readById(context: LoadContext, random: Random): Promise<void> {
  const id = pick(random, context.recentPets.slice(-RECENT_IDS))
  const name = id === undefined ? undefined : context.history.pets.get(id)
  if (name === undefined) return
  const reply = await context.client.send('listPets', { method: 'GET', path: `/pets?id=${id}` })
  if (reply.outcome !== 'done') {
    await waitPolitely(reply, random)
    return
  }
  recordRead(context)
  const found = (reply.body as Pet[])[0]
  if (found === undefined) {
    context.violations.add({
      kind: 'staleRead',
      subject: `${id}`,
      text: `pet ${id} was acknowledged, and a later read did not find it`,
    })
  } else if (found.name !== name) {
    const text = `pet ${id}: ${name} was read as ${found.name}`
    context.violations.add({ kind: 'changed', subject: `${id}`, text })
  }
}

function recordRead(context: LoadContext): void {
  context.activity.record('reads')
  context.totals.reads += 1
}
