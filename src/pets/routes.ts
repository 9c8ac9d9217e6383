// The operations on animals over HTTP: what each takes, what it answers, which scope it needs.
import type { Caller } from '../api-keys/schema.ts'
import { AppError } from '../errors.ts'
import { deprecateGetPet, GET_PET_REMOVAL } from '../http/deprecation.ts'
import { answer, errorAnswers, IdempotencyKeyHeaders, type Services, type V1 } from '../http/operation.ts'
import { nextPageLink, readCursor, writeCursor } from '../http/paging.ts'
import { createPet, getPet, listPets, listPetsByIds } from './pets.ts'
import {
  LIST_LIMIT_DEFAULT,
  LIST_LIMIT_MAX,
  ListPetsQuery,
  NewPetRef,
  type Pet,
  PetParams,
} from './schema.ts'

const REMOVAL_DAY = GET_PET_REMOVAL.toISOString().slice(0, 10)
const EXAMPLE = { id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }

export function listPetsRoute(app: V1, { db, publicUrl }: Services): void {
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
        200: answer({
          description: 'The animals of this page.',
          schema: 'Pets',
          example: [EXAMPLE],
          headers: { Link: 'The next page, while there is one (RFC 8288): `<…>; rel="next"`.' },
        }),
        ...errorAnswers('invalid_parameter', 'invalid_cursor', 'missing_api_key', 'invalid_api_key'),
      },
    },
    handler: async (request, reply): Promise<Pet[]> => {
      const { limit, cursor, id: ids, status, categoryId } = request.query
      const filters = { status, categoryId }
      if (ids !== undefined) {
        if (cursor !== undefined) throw idWithCursor()
        return listPetsByIds(db, filters, ids, limit ?? LIST_LIMIT_MAX)
      }
      const { pets, nextBefore } = await listPets(db, filters, {
        before: cursor === undefined ? undefined : readCursor(cursor, filters),
        limit: limit ?? LIST_LIMIT_DEFAULT,
      })
      if (nextBefore !== undefined) {
        const next = writeCursor(nextBefore, filters)
        reply.header('link', nextPageLink(`${publicUrl}/v1/pets`, filters, limit, next))
      }
      return pets
    },
  })
}

export function createPetRoute(app: V1, { db, publicUrl, categories }: Services): void {
  app.route({
    method: 'POST',
    url: '/pets',
    config: { scope: 'pets:write' },
    schema: {
      operationId: 'createPet',
      summary: 'Add an animal',
      description:
        'With `Idempotency-Key` it can be repeated safely: the same key never adds a second animal.',
      tags: ['pets'],
      headers: IdempotencyKeyHeaders,
      body: NewPetRef,
      response: {
        201: answer({
          description: 'The animal, with its id.',
          schema: 'Pet',
          example: EXAMPLE,
          headers: {
            Location: 'Where the animal is.',
            'Idempotency-Replayed': '`true` when this is the answer to an earlier request with the same key.',
          },
        }),
        ...errorAnswers(
          'missing_body',
          'invalid_json',
          'invalid_body',
          'unknown_category',
          'missing_api_key',
          'invalid_api_key',
          'idempotency_key_in_use',
          'idempotency_key_reused',
          'outcome_unknown',
        ),
      },
    },
    handler: async (request, reply): Promise<Pet> => {
      const { pet, replayed } = await createPet(db, request.body, {
        callerId: (request.caller as Caller).id,
        requestId: request.id,
        idempotencyKey: request.headers['idempotency-key'],
        categories,
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      reply.code(201).header('location', `${publicUrl}/v1/pets/${pet.id}`)
      return pet
    },
  })
}

export function getPetRoute(app: V1, services: Services): void {
  app.route({
    method: 'GET',
    url: '/pets/:petId',
    config: { scope: 'pets:read' },
    onRequest: deprecateGetPet(services),
    schema: {
      operationId: 'getPet',
      summary: 'Get an animal',
      description: `To be removed on ${REMOVAL_DAY}; from then on it answers 410. Use \`listPets\` with \`id\` instead.`,
      deprecated: true,
      'x-sunset': REMOVAL_DAY,
      tags: ['pets'],
      params: PetParams,
      response: {
        200: answer({
          description: 'The animal.',
          schema: 'Pet',
          example: EXAMPLE,
          headers: {
            Deprecation: 'Since when the operation is deprecated (RFC 9745).',
            Sunset: 'When it will be removed (RFC 8594).',
            Link: 'What to use instead, and the page that explains it.',
          },
        }),
        ...errorAnswers('missing_api_key', 'invalid_api_key', 'pet_not_found', 'operation_removed'),
      },
    },
    handler: (request): Promise<Pet> => getPet(services.db, request.params.petId),
  })
}

function idWithCursor(): AppError {
  return new AppError('invalid_parameter', {
    details: [{ field: 'cursor', code: 'not_allowed', message: 'cursor cannot be combined with id.' }],
  })
}
