// Many clients on a few pets at a time, and the history of each pet: requests, responses and times. All clients run in
// this process, so its clock defines "before".
import { type Connection, type Exchange, isBusy, openConnection, retryWhileBusy } from '../../support/load.ts'
import { countLate, isUnknown, mayBeLate } from '../late.ts'
import { seeded } from '../random.ts'
import { isWrite, type PetCall, type PetOperation } from './pet.ts'

/** A request and its response, to compare with the events. */
export interface HotRequest {
  call: PetCall['call'] | 'create'
  status: number
  /** Of an error. */
  code: string | undefined
}

export interface HotPet {
  /** 0 if the outcome of its creation is unknown. */
  id: number
  name: string
  categoryId: number
  history: PetOperation[]
  orders: number[]
  /** Entries that responses have told. */
  entries: number[]
  /** Every request by its id, including those that the service rejected because the host is busy. */
  requests: Map<string, HotRequest>
  /** The newest version that any client has seen. */
  version: number
  /** The newest version of its profile that any client has seen. */
  profileVersion: number
  /** The number of operations after which the history is long enough. */
  enough: number
  /** Whether the outcome of an operation is unknown, because the host is busy. Its history cannot be checked. */
  isUnknown: boolean
}

export interface Load {
  origins: readonly string[]
  apiKey: string
  clients: number
  operations: number
  seed: number
}

const HOT_AT_ONCE = 4
const OPERATIONS_EACH = 300
const OPERATIONS_AFTER_DELETION = 20
/** Each pet has its own category, so that many clients request the same page of the list at once. */
const FIRST_CATEGORY = 1_000

export async function keepPetsHot({ origins, apiKey, clients, operations, seed }: Load): Promise<HotPet[]> {
  const pets: HotPet[] = []
  const hot = new Map<number, Promise<HotPet>>()
  let left = operations
  let busy = 0

  /** Whether to retry. A service that is always busy fails. */
  function countBusy(exchange: Exchange): boolean {
    const isRetried = isBusy(exchange) && busy < operations
    if (isRetried) {
      busy += 1
      countLate()
    }
    return isRetried
  }

  async function addPet(connection: Connection): Promise<HotPet> {
    const { send } = connection
    const categoryId = FIRST_CATEGORY + pets.length
    const values = { name: 'Pet', categoryId }
    const requests = new Map<string, HotRequest>()
    const pet = {
      ...values,
      id: 0,
      history: [],
      orders: [],
      entries: [],
      requests,
      version: 1,
      profileVersion: 0,
      enough: OPERATIONS_EACH,
      isUnknown: false,
    }
    pets.push(pet)
    const requestId = `create-${pets.length}`
    const headers = { 'x-request-id': requestId }
    const startedAt = performance.now()
    const exchange = await retryWhileBusy(() => send('POST', '/v1/pets', values, headers), countBusy)
    const { status, body } = exchange
    const { id, code } = body as { id: number; code?: string }
    requests.set(requestId, { call: 'create', status, code })
    if (isUnknown(exchange) && mayBeLate(startedAt)) {
      countLate()
      pet.isUnknown = true
      return addPet(connection)
    }
    if (status !== 201) throw new Error(`a pet could not be created: ${status}`)
    pet.id = id
    return pet
  }

  async function record(connection: Connection, pet: HotPet, input: PetCall): Promise<void> {
    const requestId = `call-${pet.categoryId}-${pet.requests.size}`
    const request: HotRequest = { call: input.call, status: 0, code: undefined }
    pet.requests.set(requestId, request)
    const calledAt = performance.now()
    const exchange = await sendCall(connection, pet, input, requestId)
    const { status, body, etag } = exchange
    const returnedAt = performance.now()
    Object.assign(request, { status, code: (body as { code?: string } | undefined)?.code })
    if (countBusy(exchange)) {
      // The service did nothing: send another operation instead.
      left += 1
      return
    }
    if (isUnknown(exchange) && mayBeLate(calledAt)) {
      countLate()
      // Replace the pet, and send as many operations to others.
      if (!pet.isUnknown) left += pet.history.length
      pet.isUnknown = true
      pet.enough = 0
    }
    if (pet.isUnknown) left += 1
    pet.history.push({ input, output: { status, body, etag }, calledAt, returnedAt })
    const version = input.call.endsWith('Profile') ? 'profileVersion' : 'version'
    pet[version] = Math.max(pet[version], etag)
    if (status === 204) pet.enough = pet.history.length + OPERATIONS_AFTER_DELETION
    if (input.call === 'place' && status === 201) pet.orders.push((body as { id: number }).id)
    const isEntry = input.call === 'refund' || input.call === 'settle' || input.call === 'void'
    if (isEntry && status < 300) pet.entries.push((body as { id: number }).id)
  }

  async function runClient(index: number): Promise<void> {
    const random = seeded(seed + index).fraction
    const connections = origins.map((origin) => openConnection({ origin, apiKey }))
    const connection = () => connections[Math.floor(random() * connections.length)] as Connection
    while (left > 0) {
      left -= 1
      const slot = Math.floor(random() * HOT_AT_ONCE)
      const adding = hot.get(slot) ?? addPet(connection())
      hot.set(slot, adding)
      const pet = await adding
      const call = chooseCall(pet, random)
      await record(connection(), pet, call)
      // Read right after a write, when a stale read is most likely.
      if (isWrite(call.call) && left > 0) {
        left -= 1
        const read = call.call === 'putProfile' ? 'getProfile' : random() < 0.5 ? 'get' : 'list'
        await record(connection(), pet, { call: read })
      }
      if (pet.history.length >= pet.enough && hot.get(slot) === adding) hot.delete(slot)
    }
    for (const each of connections) each.close()
  }

  await Promise.all(Array.from({ length: clients }, (_, index) => runClient(index)))
  return pets
}

/** Mostly available, so that the pet can be sold again. */
const STATUSES = ['available', 'available', 'available', 'pending', 'sold'] as const

function chooseCall({ orders, entries, version, profileVersion }: HotPet, random: () => number): PetCall {
  const pick = random()
  const ifMatch = random() < 0.5 ? undefined : `"${version}"`
  const isInBatch = random() < 0.5
  // One of the newest orders, because the others have long been closed.
  const orderId = orders.at(-1 - Math.floor(random() * 3)) ?? orders.at(-1)
  if (pick < 0.15) return { call: 'get' }
  if (pick < 0.3) return { call: 'list' }
  if (pick < 0.4) {
    const profile = { price: `${Math.floor(random() * 1e6)}.00`, breed: 'Beagle' }
    return { call: 'putProfile', profile, ifMatch: ifMatch && `"${profileVersion}"` }
  }
  if (pick < 0.52)
    return { call: 'update', change: { name: `Pet ${Math.floor(random() * 1e6)}` }, ifMatch, isInBatch }
  if (pick < 0.64)
    return {
      call: 'update',
      change: { status: STATUSES[Math.floor(random() * STATUSES.length)] ?? 'sold' },
      ifMatch,
      isInBatch,
    }
  if (pick < 0.65) return { call: 'delete', ifMatch, isInBatch }
  const price = random() < 0.5 ? undefined : `${Math.floor(random() * 1e6)}.50`
  if (pick < 0.76 || orderId === undefined) {
    return { call: 'place', price, deposit: random() < 0.3 ? '20.00' : undefined }
  }
  if (pick < 0.82) return { call: 'complete', orderId, price }
  if (pick < 0.91) return chooseMoneyCall(orderId, entries, random)
  return pick < 0.96 ? { call: 'cancel', orderId } : { call: 'getOrder', orderId }
}

const AMOUNTS = ['0.00', '5.00', '20.00', '100.50'] as const

function chooseMoneyCall(orderId: number, entries: readonly number[], random: () => number): PetCall {
  const pick = random()
  const amount = AMOUNTS[Math.floor(random() * AMOUNTS.length)] ?? '5.00'
  const entryId = entries.at(-1 - Math.floor(random() * 2)) ?? entries.at(-1)
  if (pick < 0.25 && entryId !== undefined) return { call: 'void', entryId }
  if (pick < 0.6) return { call: 'refund', orderId, amount, takeBack: random() < 0.5 }
  return pick < 0.8 ? { call: 'settle', orderId, amount } : { call: 'correct', orderId, price: amount }
}

function sendCall({ send }: Connection, { id, categoryId }: HotPet, input: PetCall, requestId: string) {
  const headers = { 'x-request-id': requestId }
  switch (input.call) {
    case 'get':
      return send('GET', `/v1/pets/${id}`, undefined, headers)
    case 'list':
      return send('GET', `/v1/pets?categoryId=${categoryId}`, undefined, headers)
    case 'update':
      if (input.isInBatch) return sendInBatch(send, id, input, headers)
      return send('PATCH', `/v1/pets/${id}`, input.change, { ...headers, ...ifMatchHeader(input.ifMatch) })
    case 'getProfile':
      return send('GET', `/v1/pets/${id}/profile`, undefined, headers)
    case 'putProfile':
      return send('PUT', `/v1/pets/${id}/profile`, input.profile, {
        ...headers,
        ...ifMatchHeader(input.ifMatch),
      })
    case 'delete':
      if (input.isInBatch) return sendInBatch(send, id, input, headers)
      return send('DELETE', `/v1/pets/${id}`, undefined, { ...headers, ...ifMatchHeader(input.ifMatch) })
    case 'place':
      return send(
        'POST',
        '/v1/store/orders',
        { petId: id, price: input.price, deposit: input.deposit },
        headers,
      )
    case 'complete':
      return send('POST', `/v1/store/orders/${input.orderId}/complete`, { price: input.price }, headers)
    case 'correct':
      return send('POST', `/v1/store/orders/${input.orderId}/correct`, { price: input.price }, headers)
    case 'refund':
      return send(
        'POST',
        `/v1/store/orders/${input.orderId}/refund`,
        { amount: input.amount, takeBack: input.takeBack },
        { ...headers, 'idempotency-key': requestId },
      )
    case 'settle':
      return send(
        'POST',
        `/v1/store/orders/${input.orderId}/settle-deposit`,
        { refund: input.amount },
        { ...headers, 'idempotency-key': requestId },
      )
    case 'void':
      return send('POST', `/v1/store/entries/${input.entryId}/void`, undefined, headers)
    case 'cancel':
      return send('POST', `/v1/store/orders/${input.orderId}/${input.call}`, undefined, headers)
    case 'getOrder':
      break
  }
  return send('GET', `/v1/store/orders/${input.orderId}`, undefined, headers)
}

/** Sends the call as a change of changePets. Its result is the response. */
async function sendInBatch(
  send: Connection['send'],
  petId: number,
  input: PetCall & { call: 'update' | 'delete' },
  headers: Record<string, string>,
): Promise<Exchange> {
  const version = input.ifMatch === undefined ? undefined : Number(input.ifMatch.slice(1, -1))
  const change =
    input.call === 'update' ? { update: { petId, version, ...input.change } } : { delete: { petId, version } }
  const exchange = await send('POST', '/v1/pet-changes', { changes: [change] }, headers)
  if (exchange.status !== 200) return exchange
  const [result] = (exchange.body as { results: BatchResult[] }).results as [BatchResult]
  return {
    ...exchange,
    status: result.status,
    body: result.pet ?? result.error,
    etag: result.version ?? 0,
  }
}

interface BatchResult {
  status: number
  pet?: object
  version?: number
  error?: object
}

function ifMatchHeader(ifMatch: string | undefined): Record<string, string> {
  return ifMatch === undefined ? {} : { 'if-match': ifMatch }
}
