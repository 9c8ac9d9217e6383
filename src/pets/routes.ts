// The operations on animals over HTTP: what each takes, what it answers, which scope it needs.
import type { CategoryPolicy } from '../category-policy.ts'
import type { Db } from '../db/database.ts'
import type { FreshHolds } from '../fresh-holds.ts'
import type { Caller } from '../caller.ts'
import { AppError } from '../errors.ts'
import type { PetBatches } from './batches.ts'
import { type DeprecationServices, deprecateGetPet, GET_PET_REMOVAL, petAddress } from './deprecation.ts'
import { etag, IfMatchHeaders, ifMatch } from '../http/etag.ts'
import { response, emptyResponse, IdempotencyKeyHeaders, type V1 } from '../http/operation.ts'
import { GET_PET_PAGE } from '../http/page-addresses.ts'
import { queryKey } from '../http/query-key.ts'
import { JSON_TYPE } from '../http/security-headers.ts'
import { LIST_LIMIT_MAX, nextPageHeaders, readPage } from '../paging.ts'
import { changePet, createPet, getPet, listPets, listPetsByIds, listPetsByName, removePet } from './pets.ts'
import { LIST_LIMIT_DEFAULT, ListPetsQuery, NewPetRef, type Pet, PetChangeRef, PetParams } from './schema.ts'

export interface PetServices extends DeprecationServices {
  db: Db
  batches: PetBatches
  categoryPolicy: CategoryPolicy
  holds: FreshHolds
}

const REMOVAL_DAY = GET_PET_REMOVAL.toISOString().slice(0, 10)
const EXAMPLE = { id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }
const listPetsKey = queryKey(ListPetsQuery)

export function listPetsRoute(app: V1, { db, batches, publicUrl, holds }: PetServices): void {
  app.route({
    method: 'GET',
    url: '/pets',
    config: { scope: 'pets:read' },
    schema: {
      operationId: 'listPets',
      summary: 'List animals',
      description:
        'Newest first. While more exist, the `Link` header names the next page; follow it until it is absent.',
      tags: ['pets'],
      querystring: ListPetsQuery,
      response: {
        200: response({
          description: 'The animals of this page.',
          schema: 'Pets',
          example: [EXAMPLE],
          headers: {
            Link: 'The next page, while there is one (RFC 8288): `<…>; rel="next"`.',
            ETag: 'Only with exactly one `id`, if the list holds that pet: its version, for `If-Match`.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, id: ids, name, status, categoryId } = request.query
      const filters = { status, categoryId }
      await holds.waitUntilFresh()
      if (ids !== undefined) {
        const found = await listPetsByIds(db, filters, ids, limit ?? LIST_LIMIT_MAX)
        if (ids.length === 1 && found[0] !== undefined) reply.header('etag', etag(found[0].version))
        return found
      }
      const boundTo = { ...filters, name }
      const page = readPage(request.query, boundTo, LIST_LIMIT_DEFAULT)
      reply.type(JSON_TYPE)
      // Identical requests at the same time get the same bytes.
      const { body, headers } = await batches.coalescePage(listPetsKey(request.query), async () => {
        const { items, next } =
          name === undefined ? await listPets(db, filters, page) : await listPetsByName(db, name, page)
        return {
          body: Buffer.from(reply.serializeInput(items as never, '200', 'application/json') as string),
          headers: nextPageHeaders(`${publicUrl}/v1/pets`, next, boundTo, { ...boundTo, limit }),
        }
      })
      return reply.headers(headers).send(body)
    },
  })
}

export function createPetRoute(app: V1, services: PetServices): void {
  const { db, batches, categoryPolicy } = services
  app.route({
    method: 'POST',
    url: '/pets',
    config: { scope: 'pets:write', errors: ['unknown_category'] },
    schema: {
      operationId: 'createPet',
      summary: 'Add an animal',
      description:
        'With `Idempotency-Key` it can be repeated safely: the same key never adds a second animal.',
      tags: ['pets'],
      headers: IdempotencyKeyHeaders,
      body: NewPetRef,
      response: {
        201: response({
          description: 'The animal, with its id.',
          schema: 'Pet',
          example: EXAMPLE,
          headers: {
            Location: 'Where the animal is. From the removal of `getPet` on, the list of its id.',
            ETag: 'The version of the animal, for `If-Match`.',
            'Idempotency-Replayed': '`true` when this is the answer to an earlier request with the same key.',
          },
        }),
      },
    },
    handler: async (request, reply): Promise<Pet> => {
      const { pet, replayed } = await createPet(db, batches, request.body, {
        callerId: (request.caller as Caller).id,
        requestId: request.id,
        idempotencyKey: request.headers['idempotency-key'],
        categoryPolicy,
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      reply.code(201).header('location', petAddress(services, pet.id)).header('etag', etag(1))
      return pet
    },
  })
}

export function getPetRoute(app: V1, services: PetServices): void {
  app.route({
    method: 'GET',
    url: '/pets/:petId',
    config: { scope: 'pets:read', errors: ['operation_removed'] },
    onRequest: deprecateGetPet(services),
    schema: {
      operationId: 'getPet',
      summary: 'Get an animal',
      description: `To be removed on ${REMOVAL_DAY}; from then on it answers 410. Use \`listPets\` with \`id\` instead: [how](${GET_PET_PAGE}).`,
      deprecated: true,
      'x-sunset': REMOVAL_DAY,
      tags: ['pets'],
      params: PetParams,
      response: {
        200: response({
          description: 'The animal.',
          schema: 'Pet',
          example: EXAMPLE,
          headers: {
            ETag: 'The version of the animal, for `If-Match`.',
            Deprecation: 'Since when the operation is deprecated (RFC 9745).',
            Sunset: 'When it will be removed (RFC 8594).',
            Link: 'What to use instead, and the page that explains it.',
          },
        }),
      },
    },
    handler: async (request, reply): Promise<Pet> => {
      await services.holds.waitUntilFresh()
      const pet = await getPet(services.batches, request.params.petId)
      reply.header('etag', etag(pet.version))
      return pet
    },
  })
}

export function updatePetRoute(app: V1, { db, categoryPolicy }: PetServices): void {
  app.route({
    method: 'PATCH',
    url: '/pets/:petId',
    config: { scope: 'pets:write', errors: ['unknown_category', 'invalid_transition', 'pet_on_hold'] },
    schema: {
      operationId: 'updatePet',
      summary: 'Change an animal',
      description:
        'Name, category or status, with a reason for the history. Every status may follow every other but pending after sold; while an open order holds the animal, its status changes only through that order.',
      tags: ['pets'],
      params: PetParams,
      headers: IfMatchHeaders,
      body: PetChangeRef,
      response: {
        200: response({
          description: 'The animal as it is now.',
          schema: 'Pet',
          example: { ...EXAMPLE, status: 'sold' },
          headers: { ETag: 'Its new version.' },
        }),
      },
    },
    handler: async (request, reply): Promise<Pet> => {
      const pet = await changePet(db, request.params.petId, request.body, {
        actor: { apiKeyId: (request.caller as Caller).id, requestId: request.id },
        isExpected: ifMatch(request.headers['if-match']),
        categoryPolicy,
      })
      reply.header('etag', etag(pet.version))
      return pet
    },
  })
}

export function deletePetRoute(app: V1, { db }: PetServices): void {
  app.route({
    method: 'DELETE',
    url: '/pets/:petId',
    config: { scope: 'pets:write', errors: ['pet_has_orders'] },
    schema: {
      operationId: 'deletePet',
      summary: 'Remove a mistaken entry',
      description: 'The animal and its history are gone. One that ever had an order stays.',
      tags: ['pets'],
      params: PetParams,
      headers: IfMatchHeaders,
      response: {
        204: emptyResponse('It is gone.'),
      },
    },
    handler: async (request, reply) => {
      const { petId } = request.params
      // The history of the pet goes with it, so the log is where an operator finds who deleted it.
      const deletion = { requestId: request.id, apiKeyId: (request.caller as Caller).id, petId }
      try {
        await removePet(db, petId, ifMatch(request.headers['if-match']), request.id)
      } catch (error) {
        if (error instanceof AppError && error.code === 'outcome_unknown')
          request.log.warn(deletion, 'pet may have been deleted')
        throw error
      }
      request.log.info(deletion, 'pet deleted')
      return reply.code(204).send()
    },
  })
}
