// The demo shop: it has been open for 90 days. Writes its past in one transaction, so that there is a whole shop or none.
import type { Actor } from '../../contract/actor.ts'
import type { Db, Tx } from '../../db/database.ts'
import { sequenceEvents } from '../../events/feed/sequencer.ts'
import { upsertCategories } from '../../store/categories/queries.ts'
import { insertHistory } from '../../store/history/queries.ts'
import { setPetStatus } from '../../store/holds/queries.ts'
import { insertPets } from '../../store/pets/queries.ts'
import { findPetProfile, upsertPetProfile } from '../../store/profiles/queries.ts'
import { addDemoKeys } from './demo-keys.ts'
import { CURRENCY, OPEN_DAYS, type PastStep, planClosings, planPast } from './demo-past.ts'
import { CATEGORIES, demoPet, PET_COUNT } from './demo-pets.ts'
import { addDemoWebhooks } from './demo-webhooks.ts'
import {
  endDemoOrder,
  hasPets,
  insertDemoClosing,
  insertDemoDeposit,
  insertDemoOrder,
  insertDemoProfiles,
  setBackEvents,
  setBackFigures,
  setBackHistory,
  setBackPets,
} from './queries.ts'

const DAY_MS = 86_400_000

/** Adds the shop if the catalogue is empty. Returns the number of pets added. Connect as the owner of the tables. */
export async function addDemoShop(db: Db, now = new Date()): Promise<number> {
  if (await hasPets(db)) return 0
  const steps = planPast(now).map((step, index) => ({ ...step, requestId: `demo-${index + 1}` }))
  await db.transaction(async (tx) => {
    const actorIds = await addDemoKeys(tx, now)
    await upsertCategories(tx, CATEGORIES)
    const petIds: bigint[] = []
    for (const { requestId, by, ...step } of steps) {
      await takeStep(tx, step, { actorId: by && actorIds.get(by), requestId }, petIds)
    }
    for (const closing of planClosings(now)) await insertDemoClosing(tx, closing, actorIds.get('ada'))
    const requests = { requestIds: steps.map(({ requestId }) => requestId), times: steps.map(({ at }) => at) }
    await setBackPets(tx, requests)
    await setBackHistory(tx, requests)
    await setBackEvents(tx, requests)
    // A day more, because the first day starts earlier in other time zones.
    await setBackFigures(tx, new Date(now.getTime() - (OPEN_DAYS + 1) * DAY_MS))
  })
  await sequenceEvents(db)
  await addDemoWebhooks(db, now)
  return PET_COUNT
}

type Step = PastStep extends infer Each ? (Each extends PastStep ? Omit<Each, 'by'> : never) : never

/** @param petIds The ids of the pets by their indexes. Arrivals add to them. */
async function takeStep(tx: Tx, step: Step, actor: Actor, petIds: bigint[]): Promise<void> {
  const idOf = (index: number) => petIds[index] as bigint
  switch (step.kind) {
    case 'arrive': {
      const { actorId: createdBy, requestId } = actor
      const pets = step.pets.map((index) => ({
        ...demoPet(index),
        status: 'available' as const,
        createdBy,
        requestId,
      }))
      petIds.push(...(await insertPets(tx, pets)))
      return
    }
    case 'describe':
      return insertDemoProfiles(tx, step.pets.map(idOf), step.profiles, actor)
    case 'reprice': {
      const petId = idOf(step.pet)
      const { version: _version, ...profile } = (await findPetProfile(tx, petId)) ?? { version: 0, petId }
      await upsertPetProfile(tx, { ...profile, ...step.to }, actor)
      return insertHistory(tx, { petId, event: 'updated', from: step.from, to: step.to }, actor)
    }
    case 'hold': {
      const { expiresAt, note, price, deposit } = step
      const petId = idOf(step.pet)
      await setPetStatus(tx, petId, 'pending', actor)
      const order = { petId, createdAt: step.at, expiresAt, note, price, currency: CURRENCY }
      await insertDemoOrder(tx, order, actor)
      if (deposit !== undefined) await insertDemoDeposit(tx, { petId, at: step.at, paid: deposit }, actor)
      return
    }
    case 'end':
      return endDemoOrder(
        tx,
        { petId: idOf(step.pet), as: step.as, closedAt: step.at, price: step.price, method: step.method },
        actor,
      )
  }
}
