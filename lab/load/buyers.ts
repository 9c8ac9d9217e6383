// Clients that compete for the same pet in each round. One of them gets it, and completes or cancels the order.
import { setTimeout as sleep } from 'node:timers/promises'
import { pick, type Random } from '../parts/random.ts'
import { type LoadContext, offerOrder, retry, type Worker } from './context.ts'
import { idOf } from './writers.ts'

const ROUND_MS = 150
const POLL_MS = 10
const CANCELLED_SHARE = 0.25
/** A week, so that no order expires during a run. */
const HOLD_MINUTES = 10_080

interface Round {
  number: number
  petId: number
}

/** Returns the client that opens rounds, and the client that buys. */
export function openMarket(): { auctioneer: Worker; buyer: Worker } {
  let round: Round = { number: 0, petId: 0 }
  const auctioneer: Worker = async (context, random) => {
    while (!context.stopping) {
      const petId = pick(random, context.recentPets)
      if (petId !== undefined) {
        context.recentPets.splice(context.recentPets.indexOf(petId), 1)
        round = { number: round.number + 1, petId }
      }
      await sleep(ROUND_MS)
    }
  }
  const buyer: Worker = async (context, random, index) => {
    let last = 0
    while (!context.stopping) {
      if (round.number === last) {
        await sleep(POLL_MS)
        continue
      }
      last = round.number
      const { petId } = round
      const note = `${context.history.prefix}b${index}.${last}`
      const orderId = await place(context, random, petId, note)
      if (orderId !== undefined) await close(context, random, orderId)
    }
  }
  return { auctioneer, buyer }
}

async function place(
  context: LoadContext,
  random: Random,
  petId: number,
  note: string,
): Promise<number | undefined> {
  const { client, history, violations } = context
  history.unknownOrders.add(note)
  const reply = await retry(
    context,
    random,
    () =>
      client.send('placeOrder', {
        method: 'POST',
        path: '/store/orders',
        body: { petId, holdMinutes: HOLD_MINUTES, note },
        headers: { 'idempotency-key': note },
      }),
    ({ outcome, status }) => outcome === 'done' || (outcome === 'notDone' && status !== 503),
  )
  if (reply === undefined) return undefined
  history.unknownOrders.delete(note)
  if (reply.result === '404 pet_not_found') {
    violations.add({ kind: 'lost', subject: `${petId}`, text: `pet ${petId}: placeOrder returned 404` })
  }
  if (reply.outcome !== 'done') return undefined
  const orderId = idOf(reply)
  const replaced = history.orders.get(orderId)
  if (replaced !== undefined) {
    const text = `order ${orderId} for pet ${replaced.petId}: its id was given to an order for pet ${petId}`
    violations.add({ kind: 'orderUndone', subject: `${orderId}`, text })
  }
  const earlier = context.ordersByPet.get(petId) ?? []
  const isTaken = earlier.some((id) => history.orders.get(id)?.state.startsWith('cancel') !== true)
  if (isTaken) {
    const text = `pet ${petId}: the orders of two buyers were acknowledged`
    violations.add({ kind: 'soldTwice', subject: `${petId}`, text })
  }
  context.ordersByPet.set(petId, [...earlier, orderId])
  history.orders.set(orderId, { petId, state: 'placed' })
  offerOrder(context, orderId)
  context.historyFile.append({ order: orderId, petId, note })
  context.activity.record('orders')
  context.totals.orders += 1
  return orderId
}

/** Completes or cancels the order, retrying until that is acknowledged. */
async function close(context: LoadContext, random: Random, orderId: number): Promise<void> {
  const { client, history, violations, totals } = context
  const order = history.orders.get(orderId)
  if (order === undefined) return
  const cancels = random() < CANCELLED_SHARE
  const verb = cancels ? 'cancel' : 'complete'
  order.state = cancels ? 'cancelling' : 'completing'
  const reply = await retry(
    context,
    random,
    () =>
      client.send(cancels ? 'cancelOrder' : 'completeOrder', {
        method: 'POST',
        path: `/store/orders/${orderId}/${verb}`,
      }),
    ({ outcome, status }) => outcome === 'done' || (outcome === 'notDone' && status !== 503),
  )
  if (reply === undefined) return
  if (reply.outcome !== 'done') {
    const text = `order ${orderId} was acknowledged, and ${verb} returned ${reply.result}`
    violations.add({ kind: 'orderUndone', subject: `${orderId}`, text })
    return
  }
  order.state = cancels ? 'cancelled' : 'completed'
  totals[cancels ? 'cancellations' : 'completions'] += 1
  context.historyFile.append({ order: orderId, state: order.state })
  context.activity.record('orders')
}
