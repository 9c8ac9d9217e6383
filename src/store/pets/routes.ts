// HTTP routes for pets: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in pets.ts.
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../contract/caller.ts'
import type { CategoryPolicy } from '../../contract/category-policy.ts'
import { AppError } from '../../contract/errors.ts'
import { LIST_LIMIT_MAX, pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { actorOf, requireScope } from '../../http/authentication.ts'
import {
  etag,
  etagIncluding,
  IfNoneMatchHeaders,
  ifMatch,
  ifMatchHeaders,
  NOT_MODIFIED,
} from '../../http/etag.ts'
import { response, emptyResponse, IdempotencyKeyHeaders, type V1 } from '../../http/operation.ts'
import { GET_PET_PAGE } from '../../http/page-addresses.ts'
import { IGNORED_FIELDS, ignoredFields } from '../../http/strict-requests.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import { putPetByReference } from './by-reference.ts'
import { includeOf } from './included.ts'
import { queryKey } from '../../http/query-key.ts'
import { JSON_TYPE } from '../../http/security-headers.ts'
import type { PetTable } from './table.ts'
import { type DeprecationServices, deprecateGetPet, GET_PET_REMOVAL, petAddress } from './deprecation.ts'
import {
  categoryRule,
  changePet,
  countPets,
  createPet,
  getPet,
  getPetIncluding,
  listOf,
  listPetsByIds,
  listPetsIncluding,
  readPets,
  removePet,
} from './pets.ts'
import {
  LIST_LIMIT_DEFAULT,
  GetPetCountQuery,
  GetPetQuery,
  ListPetsQuery,
  NewPetRef,
  NewPetSchema,
  PetByReferenceRef,
  PetCountSchema,
  PET_SCHEMAS,
  PetChangeRef,
  PetParams,
  PetSchema,
  PetsSchema,
  ReferenceParams,
} from './schema.ts'

interface PetServices extends DeprecationServices {
  db: Db
  petTable: PetTable
  categoryPolicy: CategoryPolicy
  settings: CurrentSettings
}

const REMOVAL_DAY = GET_PET_REMOVAL.toISOString().slice(0, 10)
const EXAMPLE = { id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }
const listPetsKey = queryKey(ListPetsQuery)

function listPetsRoute(app: V1, { petTable, publicUrl }: PetServices): void {
  app.route({
    method: 'GET',
    url: '/pets',
    config: { scope: 'pets:read', showsHolds: true, hasOwnEtag: true },
    schema: {
      operationId: 'listPets',
      summary: 'List pets',
      description:
        'Returns pets, newest first, or sorted by name if `name` or `sort` is given. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['pets'],
      querystring: ListPetsQuery,
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(PetsSchema, {
          description: 'A page of pets.',
          example: [EXAMPLE],
          headers: {
            Link: LINKS,
            ETag: 'Version of the pet, for `If-Match` and `If-None-Match`. Present only if the request has exactly one `id` and the response contains that pet.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, id: ids, include: words } = request.query
      const list = listOf(request.query)
      const include = includeOf(words)
      if (ids !== undefined && include !== 0) {
        const pets = await listPetsIncluding(petTable, list, ids, limit ?? LIST_LIMIT_MAX, include)
        if (ids.length === 1 && pets[0] !== undefined) reply.header('etag', etagIncluding(pets[0]))
        return reply.type(JSON_TYPE).send(`[${pets.map(({ json }) => json).join(',')}]` as never)
      }
      if (ids !== undefined) {
        const found = await listPetsByIds(petTable, list, ids, limit ?? LIST_LIMIT_MAX)
        if (ids.length === 1 && found[0] !== undefined) reply.header('etag', etag(found[0].version))
        return found
      }
      const page = readPage(request.query, list, LIST_LIMIT_DEFAULT)
      reply.type(JSON_TYPE)
      // Coalesces concurrent identical requests: one query runs, and its result is serialised once.
      const { body, headers } = await petTable.coalescePage(listPetsKey(request.query), async () => {
        const { json, next } = await readPets(petTable, list, page, include)
        return {
          body: Buffer.from(json),
          headers: pageLinks(`${publicUrl}/v1/pets`, next, list, {
            ...list,
            limit,
            include: words?.join(','),
          }),
        }
      })
      // The types cannot check the text of the page.
      return reply.headers(headers).send(body as never)
    },
  })
}

function getPetCountRoute(app: V1, { db }: PetServices): void {
  app.route({
    method: 'GET',
    url: '/pet-count',
    config: { scope: 'pets:read', showsHolds: true },
    schema: {
      operationId: 'getPetCount',
      summary: 'Count pets',
      description:
        'Returns how many pets `listPets` has with the same parameters. The count is exact up to 10,000. With several words, or with `name` or `word` and a filter, it is exact if the service has to examine at most 10,000 pets. `getInventory` has exact counts of any size by status and category.',
      tags: ['pets'],
      querystring: GetPetCountQuery,
      response: {
        200: response(PetCountSchema, { description: 'The count.', example: { count: 42, more: false } }),
      },
    },
    handler: ({ query }) => countPets(db, { ...listOf(query), id: query.id }),
  })
}

function createPetRoute(app: V1, services: PetServices): void {
  const { db, petTable, categoryPolicy, settings, clock } = services
  app.route({
    method: 'POST',
    url: '/pets',
    config: {
      scope: 'pets:write',
      errors: ['unknown_category', 'currency_mismatch', 'reference_in_use'],
      retry: { rule: 'with Idempotency-Key', effect: 'A retry returns the response to the first attempt.' },
    },
    schema: {
      operationId: 'createPet',
      summary: 'Create a pet',
      description:
        'Send an `Idempotency-Key` to retry safely: requests with the same key create only one pet.',
      tags: ['pets'],
      headers: IdempotencyKeyHeaders,
      body: NewPetRef,
      response: {
        201: response(PetSchema, {
          description: 'The new pet.',
          example: EXAMPLE,
          headers: {
            Location:
              'URL of the pet. After `getPet` is removed, the URL of the list filtered by the id of the pet.',
            ETag: 'Version of the pet, for `If-Match`.',
            'Idempotency-Replayed':
              '`true` if this is the stored response to an earlier request with the same key.',
            'Petstore-Ignored-Fields':
              'Names of the fields of the body that had no effect, separated by commas and percent-encoded. Absent if there are none.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const { pet, replayed } = await createPet(petTable, request.body, {
        caller: request.caller as Caller,
        requestId: request.id,
        idempotencyKey: request.headers['idempotency-key'],
        currency: settings.currency,
        now: clock(),
        allowsCategory: categoryRule(db, categoryPolicy),
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      const ignored = ignoredFields(request.body, NewPetSchema.properties)
      if (ignored !== undefined) reply.header(IGNORED_FIELDS, ignored)
      reply.code(201).header('location', petAddress(services, pet.id)).header('etag', etag(1))
      return pet
    },
  })
}

function getPetRoute(app: V1, services: PetServices): void {
  app.route({
    method: 'GET',
    url: '/pets/:petId',
    config: { scope: 'pets:read', showsHolds: true, errors: ['operation_removed'], hasOwnEtag: true },
    onRequest: deprecateGetPet(services),
    schema: {
      operationId: 'getPet',
      summary: 'Get a pet',
      description: `Will be removed on ${REMOVAL_DAY}; from then on it returns 410. Use \`listPets\` with \`id\` instead: [how to migrate](${GET_PET_PAGE}).`,
      deprecated: true,
      'x-sunset': REMOVAL_DAY,
      tags: ['pets'],
      params: PetParams,
      querystring: GetPetQuery,
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(PetSchema, {
          description: 'The pet.',
          example: EXAMPLE,
          headers: {
            ETag: 'Version of the pet, for `If-Match`.',
            Deprecation: 'Date on which the operation was deprecated (RFC 9745).',
            Sunset: 'Date on which the operation will be removed (RFC 8594).',
            Link: 'URL of the replacement, and URL of the page that explains how to migrate.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const include = includeOf(request.query.include)
      if (include !== 0) {
        const found = await getPetIncluding(services.petTable, request.params.petId, include)
        reply.header('etag', etagIncluding(found)).type(JSON_TYPE)
        return reply.send(found.json as never)
      }
      const pet = await getPet(services.petTable, request.params.petId)
      reply.header('etag', etag(pet.version))
      return pet
    },
  })
}

function updatePetRoute(app: V1, { db, categoryPolicy }: PetServices): void {
  app.route({
    method: 'PATCH',
    url: '/pets/:petId',
    config: {
      scope: 'pets:write',
      errors: ['unknown_category', 'invalid_transition', 'pet_on_hold'],
      retry: {
        rule: 'with If-Match',
        effect:
          'After a change by another client, or if the first attempt succeeded, a retry returns 412 `precondition_failed`. `GET /v1/pets?id=42` returns the `ETag` of pet 42.',
      },
    },
    schema: {
      operationId: 'updatePet',
      summary: 'Update a pet',
      description:
        'Changes the name, category or status, and stores `reason` in the history. A sold pet cannot become pending. While an open order holds the pet, its status changes only through that order.',
      tags: ['pets'],
      params: PetParams,
      headers: ifMatchHeaders('pet'),
      body: PetChangeRef,
      response: {
        200: response(PetSchema, {
          description: 'The updated pet.',
          example: { ...EXAMPLE, status: 'sold' },
          headers: { ETag: 'Version of the pet, for `If-Match`.' },
        }),
      },
    },
    handler: async (request, reply) => {
      const pet = await changePet(db, request.params.petId, request.body, {
        actor: actorOf(request),
        isExpected: ifMatch(request.headers['if-match'], 'pet'),
        categoryPolicy,
        requireTill: () => requireScope(request, 'till:write'),
      })
      reply.header('etag', etag(pet.version))
      return pet
    },
  })
}

function putPetByReferenceRoute(app: V1, services: PetServices): void {
  const { db, categoryPolicy, settings, clock } = services
  const headers = { ETag: 'Version of the pet, for `If-Match`.' }
  app.route({
    method: 'PUT',
    url: '/pets/by-reference/:reference',
    config: {
      scope: 'pets:write',
      errors: ['unknown_category', 'currency_mismatch'],
      retry: {
        rule: 'safe',
        effect: 'A retry finds the pet, and changes nothing more unless another client has changed it since.',
      },
    },
    schema: {
      operationId: 'putPetByReference',
      summary: 'Create or change the pet with a reference',
      description:
        'Creates a pet with this reference if none has it. Otherwise changes the name, the category and the given facts of that pet, never its status. Made to keep the pets of another system the same here. A deleted pet gives its reference back: the next request creates a new pet, with another id.',
      tags: ['pets'],
      params: ReferenceParams,
      body: PetByReferenceRef,
      response: {
        200: response(PetSchema, { description: 'The pet, changed or not.', example: EXAMPLE, headers }),
        201: response(PetSchema, {
          description: 'The new pet.',
          example: EXAMPLE,
          headers: { ...headers, Location: 'URL of the pet.' },
        }),
      },
    },
    handler: async (request, reply) => {
      const { pet, isNew } = await putPetByReference(db, request.params.reference, request.body, {
        actor: actorOf(request),
        categoryPolicy,
        currency: await settings.currency(),
        now: clock(),
      })
      reply.header('etag', etag(pet.version))
      if (isNew) reply.code(201).header('location', petAddress(services, pet.id))
      return pet
    },
  })
}

function deletePetRoute(app: V1, { db }: PetServices): void {
  app.route({
    method: 'DELETE',
    url: '/pets/:petId',
    config: {
      scope: 'pets:write',
      errors: ['pet_has_orders'],
      retry: {
        rule: 'safe',
        effect:
          'If the first attempt succeeded, a retry returns 404 `pet_not_found`, because ids are never reused. Send `If-Match` too, to delete the pet only if no other client has changed it.',
      },
    },
    schema: {
      operationId: 'deletePet',
      summary: 'Delete a pet',
      description:
        'Deletes a pet that was created by mistake, and its history. A pet that has ever had an order cannot be deleted.',
      tags: ['pets'],
      params: PetParams,
      headers: ifMatchHeaders('pet'),
      response: {
        204: emptyResponse('The pet was deleted.'),
      },
    },
    handler: async (request, reply) => {
      const { petId } = request.params
      try {
        await removePet(db, petId, ifMatch(request.headers['if-match'], 'pet'), actorOf(request))
      } catch (error) {
        if (error instanceof AppError && error.code === 'outcome_unknown')
          logDeletion(request, petId, 'unknown')
        throw error
      }
      logDeletion(request, petId, 'done')
      return reply.code(204).send()
    },
  })
}

/** The history of a deleted pet is deleted too, so only the log records who deleted the pet. */
export function logDeletion(request: FastifyRequest, petId: bigint, outcome: 'done' | 'unknown'): void {
  const deletion = { ...actorOf(request), apiKeyId: (request.caller as Caller).id, petId }
  if (outcome === 'done') request.log.info(deletion, 'pet deleted')
  else request.log.warn(deletion, 'pet may have been deleted')
}

export const PETS = {
  schemas: PET_SCHEMAS,
  operations: [
    listPetsRoute,
    getPetCountRoute,
    createPetRoute,
    getPetRoute,
    updatePetRoute,
    putPetByReferenceRoute,
    deletePetRoute,
  ],
}
