// HTTP route of changePets: what it accepts, returns and requires. Contains no SQL; the rules are in pet-changes.ts.
import type { FastifyRequest } from 'fastify'
import type { CategoryPolicy } from '../../contract/category-policy.ts'
import type { ByteBudget } from '../../contract/byte-budget.ts'
import { AppError } from '../../contract/errors.ts'
import type { Db } from '../../db/database.ts'
import { actorOf, requireScope } from '../../http/authentication.ts'
import { response, IdempotencyKeyHeaders, type V1 } from '../../http/operation.ts'
import { reserveResponse } from '../../http/response-bytes.ts'
import { JSON_TYPE } from '../../http/security-headers.ts'
import { logDeletion } from '../pets/routes.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import { type CheckedChange, changePets } from './pet-changes.ts'
import {
  PET_CHANGE_SCHEMAS,
  type PetChangeItem,
  PetChangeResultsSchema,
  PetChangesRef,
  PetToCreateRef,
  PetToDeleteRef,
  PetToUpdateRef,
} from './schema.ts'

interface PetChangeServices {
  db: Db
  categoryPolicy: CategoryPolicy
  settings: CurrentSettings
  clock: () => Date
  responseBytes: ByteBudget
}

const RESULTS_EXAMPLE = {
  results: [
    { status: 201, pet: { id: 42, name: 'Biscuit', categoryId: 1, status: 'available' }, version: 1 },
    { status: 200, pet: { id: 41, name: 'Rex', categoryId: 1, status: 'sold' }, version: 2 },
    { status: 204 },
  ],
}

function changePetsRoute(app: V1, services: PetChangeServices): void {
  const { db, categoryPolicy, settings, clock, responseBytes } = services
  app.route({
    method: 'POST',
    url: '/pet-changes',
    config: {
      scope: 'pets:write',
      retry: { rule: 'with Idempotency-Key', effect: 'A retry returns the results of the first attempt.' },
    },
    schema: {
      operationId: 'changePets',
      summary: 'Change many pets',
      description:
        'Makes up to 100 creates, updates and deletions, and returns a result for each. Each pet is changed completely or not at all, and a change that fails does not undo another one. Send an `Idempotency-Key` to retry safely: all changes are made once.',
      tags: ['pets'],
      headers: IdempotencyKeyHeaders,
      body: PetChangesRef,
      response: {
        200: response(PetChangeResultsSchema, {
          description: 'The results, also if some or all changes failed.',
          example: RESULTS_EXAMPLE,
          headers: {
            'Idempotency-Replayed':
              '`true` if this is the stored response to an earlier request with the same key.',
          },
        }),
      },
    },
    handler: async (request, reply) => {
      const changes = request.body.changes.map((change) => checkChange(request, change))
      const outcome = await changePets(db, changes, {
        actor: actorOf(request),
        idempotencyKey: request.headers['idempotency-key'],
        categoryPolicy,
        currency: await settings.currency(),
        now: clock(),
        requireTill: () => requireScope(request, 'till:write'),
        reserve: (json) => reserveResponse(responseBytes, reply, json),
      }).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'outcome_unknown')
          for (const change of changes)
            if (change.kind === 'delete') logDeletion(request, change.values.petId, 'unknown')
        throw error
      })
      for (const petId of outcome.deleted) logDeletion(request, petId, 'done')
      if (outcome.replayed) reply.header('idempotency-replayed', 'true')
      // A replay returns the same bytes. The types cannot check this text.
      return reply.type(JSON_TYPE).send(outcome.json as never)
    },
  })
}

const SCHEMAS = { create: PetToCreateRef, update: PetToUpdateRef, delete: PetToDeleteRef }

type Check = (values: unknown) => { value: unknown } | { error: AppError }

/** Checks the values of one change in the same way as the body of the operation for one pet. */
function checkChange(request: FastifyRequest, change: PetChangeItem): CheckedChange {
  const kind = change.create !== undefined ? 'create' : change.update !== undefined ? 'update' : 'delete'
  const values = change[kind]
  // Fastify's types describe only its default compiler. It compiles each schema once.
  const check = request.compileValidationSchema(SCHEMAS[kind], 'body') as unknown as Check
  const checked = check(values)
  if ('error' in checked)
    return { kind: 'invalid', petId: (values as { petId?: unknown }).petId, error: checked.error }
  return { kind, values } as CheckedChange
}

export const PET_CHANGES = { schemas: PET_CHANGE_SCHEMAS, operations: [changePetsRoute] }
