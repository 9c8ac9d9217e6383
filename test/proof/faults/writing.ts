// Every operation that changes something.
import { randomUUID } from 'node:crypto'
import type { ApiFixture } from '../../support/api-fixture.ts'
import type { TestResponse } from '../../support/client.ts'
import type { FaultFixture } from './fixture.ts'
import { CATEGORY, type Operation, OTHER_CATEGORY, outcomeOf } from './operation.ts'

const keyed = (): Record<string, string> => ({ 'idempotency-key': randomUUID() })

const petsNamed = 'select count(*) from pets where name = $1'
const petsNamedWithProfile = `select count(*) from pets join pet_profiles on pet_id = id where name = $1 and breed = 'Beagle'`
const ordersNoted = `select count(*) from orders where note = $1 and status = 'open' and price = 129`
const keysNamed = 'select count(*) from api_keys join actors on actors.id = actor_id where name = $1'

function createPet(headers: () => Record<string, string>, profile?: { breed: string }) {
  return async ({ query, client }: FaultFixture) => {
    const body = { name: randomUUID(), categoryId: CATEGORY, profile }
    const sent = headers()
    return {
      run: async () => outcomeOf(await client.post('/pets', body, sent), 201),
      effects: () => query(profile ? petsNamedWithProfile : petsNamed, [body.name]),
    }
  }
}

function placeOrder(headers: () => Record<string, string>) {
  return async ({ api, query, client }: FaultFixture) => {
    const body = { petId: (await api.addPet()).id, note: randomUUID(), price: '129.00' }
    const sent = headers()
    return {
      run: async () => outcomeOf(await client.post('/store/orders', body, sent), 201),
      effects: () => query(ordersNoted, [body.note]),
    }
  }
}

/** With the price that the order must have afterwards. */
function endOrder(verb: 'complete' | 'cancel', event: string, status: string, price: string) {
  return async ({ api, query, client }: FaultFixture) => {
    const { id, petId } = await api.hold({ price: '129.00' })
    const body = verb === 'complete' ? { price: '119.00' } : {}
    return {
      run: async () => outcomeOf(await client.call('POST', `/v1/store/orders/${id}/${verb}`, { body }), 200),
      effects: () =>
        query(
          `select count(*) from pet_history join pets on pets.id = pet_id join orders using (pet_id)
            where pet_id = $1 and event = $2 and pets.status = $3 and price = $4`,
          [petId, event, status, price],
        ),
    }
  }
}

function putCategory(headers: Record<string, string>) {
  return async ({ query, client }: FaultFixture) => {
    const name = randomUUID()
    const id = BigInt(`0x${name.slice(0, 8)}`) + 1_000n
    const put = (): Promise<TestResponse> =>
      client.call('PUT', `/v1/categories/${id}`, { body: { name }, headers })
    return {
      run: async () => outcomeOf(await put(), 201),
      effects: () => query('select count(*) from categories where id = $1 and name = $2', [id, name]),
    }
  }
}

/** Creates, updates and deletes pets, and ends the expired hold of one: all of it or nothing. */
async function changePets({ api, query, client }: FaultFixture) {
  const [toUpdate, toDelete] = [await api.addPet(), await api.addPet()]
  const { id, petId } = await api.hold()
  await api.makeOverdue(id)
  const name = randomUUID()
  const changes = [
    { delete: { petId: toDelete.id } },
    { update: { petId, name } },
    { create: { name, categoryId: CATEGORY, profile: { breed: name } } },
    { update: { petId: toUpdate.id, name } },
  ]
  const sent = keyed()
  return {
    run: async () => outcomeOf(await client.post('/pet-changes', { changes }, sent), 200),
    effects: () =>
      query(
        `select case when pets = 3 * profiles and entries = 3 * profiles and deleted = least(profiles, 1) then profiles
            else -1 end
          from (select
            (select count(*) from pets where name = $1) as pets,
            (select count(*) from pet_profiles where breed = $1) as profiles,
            (select count(*) from pet_history where to_name = $1 or to_profile ->> 'breed' = $1) as entries,
            (select 1 - count(*) from pets where id = $2) as deleted) as found`,
        [name, toDelete.id],
      ),
  }
}

/** Another API key, created bypassing the proxy. */
async function otherApiKey(api: ApiFixture): Promise<{ id: number; name: string; key: string }> {
  const name = randomUUID()
  return { name, ...((await api.post('/api-keys', { name })).body as { id: number; key: string }) }
}

export const WRITING: Operation[] = [
  { name: 'createPet', commits: 'insert_pets', prepare: createPet(() => ({})) },
  {
    name: 'createPet with a profile',
    commits: 'insert_pets_with_profiles',
    prepare: createPet(() => ({}), { breed: 'Beagle' }),
  },
  { name: 'createPet with a key', commits: 'commit', isIdempotent: true, prepare: createPet(keyed) },
  {
    name: 'updatePet',
    commits: 'commit',
    prepare: async ({ api, query, client }) => {
      const { id } = await api.addPet({ status: 'pending' })
      const body = { name: randomUUID(), categoryId: OTHER_CATEGORY, status: 'sold', reason: 'a fault' }
      return {
        run: async () => outcomeOf(await client.call('PATCH', `/v1/pets/${id}`, { body }), 200),
        effects: () =>
          query(
            `select count(*) from pet_history join pets on pets.id = pet_id and pets.name = to_name
              and pets.version = 2 where pet_id = $1 and to_name = $2`,
            [id, body.name],
          ),
      }
    },
  },
  {
    name: 'deletePet',
    commits: 'commit',
    prepare: async ({ api, query, client }) => {
      const { id } = await api.addPet()
      return {
        run: async () => outcomeOf(await client.call('DELETE', `/v1/pets/${id}`), 204),
        effects: async () => 1 - (await query('select count(*) from pets where id = $1', [id])),
      }
    },
  },
  {
    name: 'changePets',
    commits: 'commit',
    prepare: async ({ query, client }) => {
      const create = { name: randomUUID(), categoryId: CATEGORY }
      return {
        run: async () => outcomeOf(await client.post('/pet-changes', { changes: [{ create }] }), 200),
        effects: () => query(petsNamed, [create.name]),
      }
    },
  },
  { name: 'changePets with a key', commits: 'commit', isIdempotent: true, prepare: changePets },
  { name: 'placeOrder', commits: 'place_orders', prepare: placeOrder(() => ({})) },
  {
    name: 'placeOrder with a key',
    commits: 'place_orders',
    isIdempotent: true,
    retriesUnknown: true,
    prepare: placeOrder(keyed),
  },
  {
    name: 'placeOrder after an expired hold',
    commits: 'place_orders',
    prepare: async ({ api, query, client }) => {
      const { id, petId } = await api.hold()
      await api.makeOverdue(id)
      const body = { petId, note: randomUUID(), price: '129.00' }
      return {
        run: async () => outcomeOf(await client.post('/store/orders', body), 201),
        effects: () => query(ordersNoted, [body.note]),
      }
    },
  },
  {
    name: 'placeOrder of a held pet',
    commits: 'place_orders',
    prepare: async ({ api, client }) => {
      const { petId } = await api.hold()
      return { run: async () => outcomeOf(await client.post('/store/orders', { petId }), 409) }
    },
  },
  {
    name: 'updateOrder',
    commits: 'commit',
    prepare: async ({ api, query, client }) => {
      const { id } = await api.hold()
      const body = {
        note: randomUUID(),
        expiresAt: new Date(Date.now() + 7_200_000).toISOString(),
      }
      return {
        run: async () => outcomeOf(await client.call('PATCH', `/v1/store/orders/${id}`, { body }), 200),
        effects: () =>
          query('select count(*) from orders where id = $1 and note = $2 and expires_at = $3', [
            id,
            body.note,
            body.expiresAt,
          ]),
      }
    },
  },
  {
    name: 'completeOrder',
    commits: 'complete_orders',
    isIdempotent: true,
    retriesUnknown: true,
    prepare: endOrder('complete', 'order_completed', 'sold', '119.00'),
  },
  {
    name: 'cancelOrder',
    commits: 'commit',
    isIdempotent: true,
    prepare: endOrder('cancel', 'order_cancelled', 'available', '129.00'),
  },
  {
    name: 'putPetProfile',
    commits: 'commit',
    prepare: async ({ api, query, client }) => {
      const { id } = await api.addPet()
      await api.put(`/pets/${id}/profile`, { price: '1.00' })
      const body = { price: '2.00', breed: randomUUID(), chipNumber: 'x' }
      return {
        run: async () => outcomeOf(await client.call('PUT', `/v1/pets/${id}/profile`, { body }), 200),
        effects: () =>
          query(
            `select count(*) from pet_history join pet_profiles using (pet_id)
              where pet_id = $1 and version = 2 and breed = $2 and to_profile ->> 'breed' = breed`,
            [id, body.breed],
          ),
      }
    },
  },
  ...[false, true].map((isNew) => ({
    name: `putPetByReference of ${isNew ? 'a new' : 'a known'} pet`,
    commits: 'commit',
    isIdempotent: true as const,
    prepare: async ({ api, query, client }: FaultFixture) => {
      const [name, reference] = [randomUUID(), randomUUID()]
      const path = `/v1/pets/by-reference/${reference}`
      if (!isNew) await api.put(`/pets/by-reference/${reference}`, { name: 'before', categoryId: 1 })
      const body = { name, categoryId: CATEGORY, profile: { breed: name } }
      return {
        run: async () =>
          // The retry of a create that was committed finds the pet.
          outcomeOf(await client.call('PUT', path, { body }), isNew ? [201, 200] : 200),
        effects: () =>
          query(
            `select count(*) from pets join pet_profiles on pet_id = id
              where name = $1 and breed = $1 and reference = $2 and pets.version = $3`,
            [name, reference, isNew ? 1 : 2],
          ),
      }
    },
  })),
  { name: 'putCategory', commits: 'commit', prepare: putCategory({}) },
  { name: 'putCategory if new', commits: 'commit', prepare: putCategory({ 'if-none-match': '*' }) },
  {
    name: 'updateSettings',
    commits: 'commit',
    isIdempotent: true,
    prepare: async ({ query, client }) => {
      const body = { name: randomUUID() }
      return {
        run: async () => outcomeOf(await client.call('PATCH', '/v1/store/settings', { body }), 200),
        effects: () => query('select count(*) from store_settings where name = $1', [body.name]),
      }
    },
  },
  {
    name: 'updateSettings while money is open',
    prepare: async ({ client }) => {
      const body = { timeZone: 'Asia/Tokyo' }
      return {
        run: async () => outcomeOf(await client.call('PATCH', '/v1/store/settings', { body }), 409),
      }
    },
  },
  {
    name: 'createApiKey',
    commits: 'commit',
    prepare: async ({ query, client }) => {
      const name = randomUUID()
      return {
        run: async () => outcomeOf(await client.post('/api-keys', { name }), 201),
        effects: () => query(keysNamed, [name]),
      }
    },
  },
  {
    name: 'rotateApiKey',
    commits: 'commit',
    prepare: async ({ api, query, client }) => {
      const { id, name } = await otherApiKey(api)
      return {
        run: async () => outcomeOf(await client.post(`/api-keys/${id}/rotate`, { overlapSeconds: 60 }), 201),
        // A rotation creates a successor and sets the expiry of the old key: both or neither.
        effects: () =>
          query(
            `select case when (count(*) > 1) = bool_or(api_keys.id = $2 and expires_at is not null) then count(*) - 1
              else -1 end from api_keys join actors on actors.id = actor_id where name = $1`,
            [name, id],
          ),
      }
    },
  },
  {
    name: 'updateApiKey',
    commits: 'set_program_name',
    isIdempotent: true,
    prepare: async ({ api, query, client }) => {
      const { id } = await otherApiKey(api)
      const body = { name: randomUUID() }
      return {
        run: async () => outcomeOf(await client.call('PATCH', `/v1/api-keys/${id}`, { body }), 200),
        effects: () => query(keysNamed, [body.name]),
      }
    },
  },
  {
    name: 'revokeOwnApiKey',
    commits: 'set_api_key_revoked',
    isIdempotent: true,
    prepare: async ({ api, query, client }) => {
      const { id, key: apiKey } = await otherApiKey(api)
      return {
        run: async () => {
          const response = await client.call('DELETE', '/v1/api-keys/self', { apiKey })
          // An earlier attempt has revoked the key. The effects show whether that is true.
          return response.status === 401 ? 'done' : outcomeOf(response, 204)
        },
        effects: () => query('select count(*) from api_keys where id = $1 and revoked_at is not null', [id]),
      }
    },
  },
  {
    name: 'revokeApiKey',
    commits: 'set_api_key_revoked',
    isIdempotent: true,
    prepare: async ({ api, query, client }) => {
      const { id } = await otherApiKey(api)
      return {
        run: async () => outcomeOf(await client.call('DELETE', `/v1/api-keys/${id}`), 204),
        effects: () => query('select count(*) from api_keys where id = $1 and revoked_at is not null', [id]),
      }
    },
  },
]
