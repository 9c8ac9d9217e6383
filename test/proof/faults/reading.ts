// Every operation that changes nothing. With a fault, each must return what it returns without one.
import { findAllApiKeys, findValidApiKeyIds } from '../../../src/access/api-keys/queries.ts'
import { readSchemaState } from '../../../src/db/migrations/migrate.ts'
import { sequenceEvents } from '../../../src/events/feed/sequencer.ts'
import type { ApiFixture } from '../../support/api-fixture.ts'
import { canReadSettings } from '../../../src/store/settings/queries.ts'
import { linkTo } from '../../support/pets.ts'
import { isPlainRead, OPERATIONS } from '../inputs/document.ts'
import type { FaultFixture } from './fixture.ts'
import { type Operation, outcomeOf, outcomeOfWork, STOCK_CATEGORY, type Stock } from './operation.ts'

/** Adds more pets than a page holds, in their own category, sells one of them and holds one. */
export async function stockUp(api: ApiFixture): Promise<Stock> {
  await api.put(`/categories/${STOCK_CATEGORY}`, { name: 'Fish' })
  for (let number = 1; number < 25; number += 1) {
    await api.addPet({ name: `Fish ${number}`, categoryId: STOCK_CATEGORY })
  }
  const { id: petId } = await api.addPet({ name: 'Fish on hold', categoryId: STOCK_CATEGORY })
  const { id: orderId } = await api.hold({ petId })
  await api.end('complete', (await api.hold({ price: '129.00' })).id)
  return { petId, orderId }
}

/** Must return, byte for byte, what the service without a proxy returns. */
function read(path: (stock: Stock) => string) {
  return async ({ api, client, apiKey, stock }: FaultFixture) => ({
    run: async () => {
      const response = await client.get(path(stock))
      const outcome = outcomeOf(response, 200)
      if (outcome !== 'done') return outcome
      const { text } = await api.get(path(stock), { apiKey })
      if (response.text !== text) throw new Error(`read ${response.text} instead of ${text}`)
      return outcome
    },
  })
}

/** Reads the event of a new pet, at a position that no other operation has made invalid. */
async function readNewEvent(fixture: FaultFixture) {
  const { api } = fixture
  const path = linkTo('next', await api.get('/events?after=latest'), api.origin) ?? ''
  await api.addPet()
  await sequenceEvents(api.db)
  const { body } = await api.call('GET', path)
  if (!Array.isArray(body) || body.length === 0) throw new Error('the feed lacks the event of the new pet')
  return read(() => path.replace('/v1', ''))(fixture)
}

function work(doIt: (fixture: FaultFixture) => Promise<unknown>) {
  return async (fixture: FaultFixture) => ({ run: () => outcomeOfWork(doIt(fixture)) })
}

const BY_CATEGORY = `categoryId=${STOCK_CATEGORY}`

/** webhooks.ts reads them while there are some, and `readNewEvent` an event. The report says when it was made. */
const ELSEWHERE = new Set(['listWebhooks', 'listEvents', 'getHealthReport'])
const HEALTH_REPORT = OPERATIONS.find(({ id }) => id === 'getHealthReport')?.path ?? ''

const GROUPINGS = ['day', 'seller', 'category', 'method', 'kind']

/** Reads without an id, such as the inventory. */
const PLAIN_READS = OPERATIONS.filter((operation) => isPlainRead(operation) && !ELSEWHERE.has(operation.id))

export const READING: Operation[] = [
  ...PLAIN_READS.map(({ id: name, path }) => ({ name, prepare: read(() => path) })),
  { name: 'listPets by status', prepare: read(() => '/pets?status=available') },
  { name: 'listPets by category', prepare: read(() => `/pets?${BY_CATEGORY}`) },
  { name: 'listPets by both', prepare: read(() => `/pets?${BY_CATEGORY}&status=available`) },
  { name: 'listPets by name', prepare: read(() => '/pets?name=fish') },
  { name: 'listPets by word', prepare: read(() => '/pets?word=fish&status=available') },
  { name: 'listPets by name and status', prepare: read(() => '/pets?name=fish&status=available') },
  { name: 'listPets sorted by name', prepare: read(() => '/pets?sort=name') },
  { name: 'listPets by id', prepare: read(({ petId }) => `/pets?id=${petId}`) },
  {
    name: 'listPets by id, including',
    prepare: read(({ petId }) => `/pets?id=${petId}&include=profile,times`),
  },
  { name: 'exportPets', prepare: read(() => `/pet-export?include=profile&${BY_CATEGORY}`) },
  { name: 'getPet', prepare: read(({ petId }) => `/pets/${petId}`) },
  { name: 'getPetHistory', prepare: read(({ petId }) => `/pets/${petId}/history`) },
  { name: 'getPetProfile', prepare: read(({ petId }) => `/pets/${petId}/profile`) },
  { name: 'listPetProfiles', prepare: read(({ petId }) => `/pet-profiles?petId=${petId}`) },
  { name: 'listPetProfiles by chip number', prepare: read(() => '/pet-profiles?chipNumber=fish') },
  { name: 'listOrders by status', prepare: read(() => '/store/orders?status=open') },
  { name: 'listOrders by pet', prepare: read(({ petId }) => `/store/orders?petId=${petId}`) },
  { name: 'listOrders by both', prepare: read(({ petId }) => `/store/orders?petId=${petId}&status=open`) },
  { name: 'listOrders by expiry', prepare: read(() => '/store/orders?status=open&sort=expiresAt') },
  {
    name: 'listOrders by closing',
    prepare: read(() => '/store/orders?status=completed&sort=closedAt&closedFrom=2026-01-01T00:00:00Z'),
  },
  { name: 'getOrder', prepare: read(({ orderId }) => `/store/orders/${orderId}`) },
  { name: 'listEntries by order', prepare: read(({ orderId }) => `/store/entries?orderId=${orderId}`) },
  ...GROUPINGS.map((by) => ({ name: `getTotals by ${by}`, prepare: read(() => `/store/totals?by=${by}`) })),
  { name: 'listEvents', prepare: readNewEvent },
  {
    name: 'getHealthReport',
    prepare: async ({ client }) => ({ run: async () => outcomeOf(await client.get(HEALTH_REPORT), 200) }),
  },
  { name: 'the list of keys of the command line', prepare: work(({ db }) => findAllApiKeys(db, false)) },
  { name: 'the keys of open streams', prepare: work(({ db }) => findValidApiKeyIds(db, [1n])) },
  { name: 'whether the role can read the settings', prepare: work(({ db }) => canReadSettings(db)) },
  { name: 'the state of the schema', prepare: work(({ db }) => readSchemaState(db)) },
]
