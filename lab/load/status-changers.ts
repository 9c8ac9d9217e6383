// Clients that change the status of their own pets back and forth, with If-Match. No other client changes these pets.
import { pick, type Random } from '../parts/random.ts'
import { type LoadContext, pace, retry, type Worker } from './context.ts'
import type { TrackedStatus } from './history.ts'
import { createPetOnce, idOf } from './writers.ts'

const PETS = 20
const PERIOD_MS = 100
const CATEGORY = 3

export const statusChanger: Worker = async (context, random, index) => {
  const ids: number[] = []
  for (let number = 0; number < PETS && !context.stopping; number += 1) {
    const name = `${context.history.prefix}s${index}.${number}`
    const reply = await createPetOnce(context, random, name, CATEGORY)
    if (reply === undefined) continue
    ids.push(idOf(reply))
    context.history.statuses.set(idOf(reply), { version: 1, status: 'available', possible: undefined })
  }
  while (!context.stopping) {
    const startedAt = performance.now()
    const id = pick(random, ids)
    const tracked = id === undefined ? undefined : context.history.statuses.get(id)
    if (id === undefined || tracked === undefined) return
    await change(context, random, id, tracked)
    await pace(context, random, startedAt, PERIOD_MS)
  }
}

async function change(
  context: LoadContext,
  random: Random,
  id: number,
  tracked: TrackedStatus,
): Promise<void> {
  const { client, totals, historyFile } = context
  const target = tracked.status === 'available' ? 'pending' : 'available'
  const reply = await retry(
    context,
    random,
    async () => {
      const before = tracked.possible
      // Set before the request is sent, so that a request in flight counts as unknown.
      tracked.possible = target
      const sent = await client.send('updatePet', {
        method: 'PATCH',
        path: `/pets/${id}`,
        body: { status: target },
        headers: { 'if-match': `"${tracked.version}"` },
      })
      // 412 says that this attempt changed nothing, not that an earlier one did not.
      if (sent.outcome === 'notDone') tracked.possible = before
      return sent
    },
    ({ outcome, status }) => outcome === 'done' || (outcome === 'notDone' && status !== 503),
  )
  if (reply === undefined) return
  const { possible } = tracked
  if (reply.outcome === 'done' && reply.version === tracked.version + 1) {
    accept(tracked, target)
  } else if (reply.status === 412 && possible !== undefined) {
    await confirm(context, random, id, tracked)
    return
  } else {
    const version = reply.version === undefined ? '' : ` with version ${reply.version}`
    report(context, id, tracked, `an update returned ${reply.result}${version}`)
    await adopt(context, random, id, tracked)
    return
  }
  totals.statusChanges += 1
  historyFile.append({ pet: id, status: tracked.status, version: tracked.version })
}

function accept(tracked: TrackedStatus, status: string): void {
  tracked.version += 1
  tracked.status = status
  tracked.possible = undefined
}

/** After 412: an earlier attempt with an unknown outcome must have made the change. */
async function confirm(
  context: LoadContext,
  random: Random,
  id: number,
  tracked: TrackedStatus,
): Promise<void> {
  const seen = await readStatus(context, random, id)
  if (seen === undefined) return
  if (seen.version === tracked.version + 1 && seen.status === tracked.possible) {
    accept(tracked, seen.status)
    return
  }
  report(context, id, tracked, `is now ${seen.status} at version ${seen.version}`)
  await adopt(context, random, id, tracked)
}

function report(context: LoadContext, id: number, tracked: TrackedStatus, what: string): void {
  const text = `pet ${id} was ${tracked.status} at version ${tracked.version}, and ${what}`
  context.violations.add({ kind: 'statusUndone', subject: `${id}`, text })
}

/** Continues with the current state after a violation, so that each loss is reported once. */
async function adopt(
  context: LoadContext,
  random: Random,
  id: number,
  tracked: TrackedStatus,
): Promise<void> {
  const seen = await readStatus(context, random, id)
  if (seen !== undefined) Object.assign(tracked, { ...seen, possible: undefined })
}

async function readStatus(
  context: LoadContext,
  random: Random,
  id: number,
): Promise<{ version: number; status: string } | undefined> {
  const reply = await retry(
    context,
    random,
    () => context.client.send('listPets', { method: 'GET', path: `/pets?id=${id}` }),
    ({ outcome }) => outcome === 'done',
  )
  const [pet] = (reply?.body ?? []) as { status: string }[]
  if (reply === undefined || pet === undefined || reply.version === undefined) return undefined
  return { version: reply.version, status: pet.status }
}
