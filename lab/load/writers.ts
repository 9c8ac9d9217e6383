// Clients that create pets: with an Idempotency-Key, and without.
import type { Random } from '../parts/random.ts'
import { type Reply, waitPolitely } from './client.ts'
import { acknowledgePet, type LoadContext, offerPet, pace, retry, type Worker } from './context.ts'

/** Sixteen writers with this period create 380 pets per second. */
const PERIOD_MS = 42
const REPEATED_SHARE = 0.05
const KEYED_CATEGORY = 1
const UNKEYED_CATEGORY = 2

/** Creates a pet with a key, retrying until it is acknowledged. Returns undefined if that takes too long. */
export async function createPetOnce(
  context: LoadContext,
  random: Random,
  name: string,
  categoryId: number,
): Promise<Reply | undefined> {
  const { client, history } = context
  history.unknownPets.add(name)
  const attempt = () =>
    client.send('createPet', {
      method: 'POST',
      path: '/pets',
      body: { name, categoryId },
      headers: { 'idempotency-key': name },
    })
  const reply = await retry(context, random, attempt, ({ outcome }) => outcome === 'done')
  if (reply !== undefined) acknowledgePet(context, idOf(reply), name)
  if (reply !== undefined && random() < REPEATED_SHARE) {
    const again = await attempt()
    if (again.outcome === 'done' && idOf(again) !== idOf(reply)) {
      const text = `${name} has the ids ${idOf(reply)} and ${idOf(again)}`
      context.violations.add({ kind: 'duplicated', subject: name, text })
    }
  }
  return reply
}

export const keyedWriter: Worker = async (context, random, index) => {
  for (let number = 0; !context.stopping; number += 1) {
    const startedAt = performance.now()
    const name = `${context.history.prefix}k${index}.${number}`
    const reply = await createPetOnce(context, random, name, KEYED_CATEGORY)
    if (reply !== undefined) {
      context.totals.keyedPets += 1
      offerPet(context, idOf(reply))
    }
    await pace(context, random, startedAt, PERIOD_MS)
  }
}

/** Sends each request once, like a client that cannot retry. */
export const unkeyedWriter: Worker = async (context, random, index) => {
  const { client, history } = context
  for (let number = 0; !context.stopping; number += 1) {
    const startedAt = performance.now()
    const name = `${history.prefix}u${index}.${number}`
    history.unknownPets.add(name)
    const reply = await client.send('createPet', {
      method: 'POST',
      path: '/pets',
      body: { name, categoryId: UNKEYED_CATEGORY },
    })
    if (reply.outcome === 'done') {
      acknowledgePet(context, idOf(reply), name)
      context.totals.unkeyedPets += 1
    } else if (reply.outcome === 'notDone') {
      history.unknownPets.delete(name)
      history.rejectedPets.add(name)
      context.historyFile.append({ rejected: name })
    } else {
      context.historyFile.append({ unknown: name, result: reply.result })
    }
    if (reply.outcome !== 'done') await waitPolitely(reply, random)
    await pace(context, random, startedAt, PERIOD_MS)
  }
}

export function idOf(reply: Reply): number {
  return (reply.body as { id: number }).id
}
