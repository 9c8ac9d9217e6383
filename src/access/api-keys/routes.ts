// HTTP routes for API keys: routes for administrators, and a route that returns the properties of the caller's key.
// Contains no SQL; the rules are in api-keys.ts.
import { Type } from 'typebox'
import type { Caller } from '../../contract/caller.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { LIST_LIMIT_MAX, pageLinks, readPage, LINKS } from '../../contract/paging.ts'
import { DEFAULT_SCOPES } from '../../contract/scopes.ts'
import type { Db } from '../../db/database.ts'
import { HASH_HEADERS, IfNoneMatchHeaders, NOT_MODIFIED } from '../../http/etag.ts'
import { response, emptyResponse, type Retry, type V1 } from '../../http/operation.ts'
import { REMOVALS } from '../../store/pets/deprecation.ts'
import {
  createApiKey,
  getApiKey,
  type IssuedApiKey,
  listApiKeys,
  renameApiKey,
  revokeApiKey,
  rotateApiKey,
} from './api-keys.ts'
import type { Environment } from './format.ts'
import { listDeprecatedUse } from './queries.ts'
import { OVERLAP_SECONDS_DEFAULT } from './rules.ts'
import {
  API_KEY_SCHEMAS,
  type ApiKey,
  ApiKeyChangesRef,
  ApiKeyParams,
  ApiKeyRequestRef,
  ApiKeySchema,
  ApiKeysSchema,
  DeprecatedCallsSchema,
  IssuedApiKeySchema,
  KindParameter,
  LIST_LIMIT_DEFAULT,
  OwnApiKeySchema,
  RotationRef,
} from './schema.ts'

interface ApiKeyServices {
  db: Db
  publicUrl: string
  environment: Environment
}

const EXAMPLE = {
  id: 3,
  actorId: 2,
  name: 'web-shop',
  kind: 'program',
  scopes: ['pets:read', 'orders:write'],
  createdAt: '2026-11-15T10:00:00.000Z',
  expiresAt: '2027-02-13T10:00:00.000Z',
}
const DEPRECATED_CALLS_EXAMPLE = {
  apiKeyId: 3,
  actor: 'web-shop',
  operation: 'getPet',
  calls: 5120,
  callsLast30Days: 310,
  firstDay: '2026-11-15',
  lastDay: '2026-12-24',
  removedAt: '2030-12-05T00:00:00.000Z',
}
const KEY_RETRY: Retry = {
  rule: 'never',
  effect:
    'A retry can create a second key. List the keys first, and revoke one that the first attempt created: you did not receive its secret.',
}
const REVOCATION_RETRY: Retry = {
  rule: 'safe',
  effect: 'A retry returns 204, or 401 if the key has revoked itself.',
}
const ISSUED = { ...EXAMPLE, key: 'petstore_live_…' }

function getOwnApiKeyRoute(app: V1, { db }: ApiKeyServices): void {
  app.route({
    method: 'GET',
    url: '/api-keys/self',
    config: { scope: 'any', showsHolds: false },
    schema: {
      operationId: 'getOwnApiKey',
      summary: 'Get the current API key',
      tags: ['api-keys'],
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(OwnApiKeySchema, {
          headers: HASH_HEADERS,
          description: 'The properties of the API key in the request.',
          example: {
            id: EXAMPLE.id,
            name: 'web-shop',
            kind: 'program',
            scopes: ['pets:read'],
            expiresAt: EXAMPLE.expiresAt,
            actorId: EXAMPLE.actorId,
          },
        }),
      },
    },
    handler: (request) => getApiKey(db, (request.caller as Caller).id),
  })
}

function revokeOwnApiKeyRoute(app: V1, { db }: ApiKeyServices): void {
  app.route({
    method: 'DELETE',
    url: '/api-keys/self',
    config: { scope: 'any', retry: REVOCATION_RETRY },
    schema: {
      operationId: 'revokeOwnApiKey',
      summary: 'Revoke the current API key',
      description:
        'Every instance rejects the key within one second. A later request with the key returns 401.',
      tags: ['api-keys'],
      response: {
        204: emptyResponse('The API key in the request is revoked.'),
      },
    },
    handler: async (request, reply) => {
      await revokeApiKey(db, (request.caller as Caller).id)
      return reply.code(204).send()
    },
  })
}

function listDeprecatedCallsRoute(app: V1, { db }: ApiKeyServices): void {
  app.route({
    method: 'GET',
    url: '/api-keys/deprecated-calls',
    config: { scope: 'admin', showsHolds: false },
    schema: {
      operationId: 'listDeprecatedCalls',
      summary: 'List calls of deprecated operations',
      description:
        'Returns which API keys have called deprecated operations, those with the most calls in the last 30 days first. The numbers are updated once a minute.',
      tags: ['api-keys'],
      querystring: Type.Object({ limit: LimitParameter(LIST_LIMIT_MAX) }),
      response: {
        200: response(DeprecatedCallsSchema, {
          description: 'One entry per API key and operation.',
          example: [DEPRECATED_CALLS_EXAMPLE],
        }),
      },
    },
    handler: async (request) => {
      const found = await listDeprecatedUse(db, request.query.limit ?? LIST_LIMIT_MAX)
      return found.map((use) => ({ ...use, removedAt: REMOVALS[use.operation] }))
    },
  })
}

function listApiKeysRoute(app: V1, { db, publicUrl }: ApiKeyServices): void {
  app.route({
    method: 'GET',
    url: '/api-keys',
    config: { scope: 'admin', showsHolds: false },
    schema: {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description:
        'Returns API keys, newest first, including expired and revoked keys. Personal keys are listed only while they are valid: with `kind=person`, the list shows who is signed in. To end the session of a person, revoke the key. To read all pages, follow the link `rel="next"` until it is absent.',
      tags: ['api-keys'],
      querystring: Type.Object({
        limit: LimitParameter(LIST_LIMIT_DEFAULT),
        cursor: CursorParameter,
        kind: KindParameter,
      }),
      response: {
        200: response(ApiKeysSchema, {
          description: 'A page of API keys.',
          example: [EXAMPLE],
          headers: { Link: LINKS },
        }),
      },
    },
    handler: async (request, reply) => {
      const { limit, kind } = request.query
      const filters = { list: 'api-keys', kind }
      const page = readPage(request.query, filters, LIST_LIMIT_DEFAULT)
      const { items, next } = await listApiKeys(db, kind, page)
      reply.headers(pageLinks(`${publicUrl}/v1/api-keys`, next, filters, { limit, kind }))
      return items
    },
  })
}

function createApiKeyRoute(app: V1, { db, environment }: ApiKeyServices): void {
  app.route({
    method: 'POST',
    url: '/api-keys',
    config: { scope: 'admin', retry: KEY_RETRY },
    schema: {
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description: 'Only this response contains the key itself. Store it: it cannot be retrieved later.',
      tags: ['api-keys'],
      body: ApiKeyRequestRef,
      response: {
        201: response(IssuedApiKeySchema, { description: 'The new API key.', example: ISSUED }),
      },
    },
    handler: async (request, reply) => {
      const { name, scopes = DEFAULT_SCOPES, rateLimit, expiresInSeconds } = request.body
      const issued = await createApiKey(db, environment, { name, scopes, rateLimit, expiresInSeconds })
      reply.code(201)
      return toIssued(issued)
    },
  })
}

function updateApiKeyRoute(app: V1, { db }: ApiKeyServices): void {
  app.route({
    method: 'PATCH',
    url: '/api-keys/:apiKeyId',
    config: {
      scope: 'admin',
      retry: { rule: 'safe', effect: 'A retry sets the same name again.' },
    },
    schema: {
      operationId: 'updateApiKey',
      summary: 'Rename the program of an API key',
      description:
        'Renames the program that the key belongs to: its other keys, history, orders and events show the new name, too. The key can be expired or revoked. A person has the name of the newest sign-in, so the key of a person is rejected with 404.',
      tags: ['api-keys'],
      params: ApiKeyParams,
      body: ApiKeyChangesRef,
      response: {
        200: response(ApiKeySchema, { description: 'The API key with the new name.', example: EXAMPLE }),
      },
    },
    handler: (request) => renameApiKey(db, request.params.apiKeyId, request.body.name),
  })
}

function rotateApiKeyRoute(app: V1, { db, environment }: ApiKeyServices): void {
  app.route({
    method: 'POST',
    url: '/api-keys/:apiKeyId/rotate',
    config: { scope: 'admin', retry: KEY_RETRY },
    schema: {
      operationId: 'rotateApiKey',
      summary: 'Rotate an API key',
      description:
        'Creates a key of the same program, with the same scopes, rate limit and lifetime. The old key stays valid for at most `overlapSeconds`.',
      tags: ['api-keys'],
      params: ApiKeyParams,
      body: RotationRef,
      response: {
        201: response(IssuedApiKeySchema, { description: 'The new API key.', example: ISSUED }),
      },
    },
    handler: async (request, reply) => {
      const overlap = request.body.overlapSeconds ?? OVERLAP_SECONDS_DEFAULT
      reply.code(201)
      return toIssued(await rotateApiKey(db, environment, request.params.apiKeyId, overlap))
    },
  })
}

function revokeApiKeyRoute(app: V1, { db }: ApiKeyServices): void {
  app.route({
    method: 'DELETE',
    url: '/api-keys/:apiKeyId',
    config: { scope: 'admin', retry: REVOCATION_RETRY },
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'Every instance rejects the key within one second. Idempotent: revoking a revoked key also returns 204.',
      tags: ['api-keys'],
      params: ApiKeyParams,
      response: {
        204: emptyResponse('The API key is revoked.'),
      },
    },
    handler: async (request, reply) => {
      await revokeApiKey(db, request.params.apiKeyId)
      return reply.code(204).send()
    },
  })
}

function toIssued({ text, ...apiKey }: IssuedApiKey): ApiKey & { key: string } {
  return { ...apiKey, key: text }
}

export const API_KEYS = {
  schemas: API_KEY_SCHEMAS,
  operations: [
    getOwnApiKeyRoute,
    revokeOwnApiKeyRoute,
    listApiKeysRoute,
    listDeprecatedCallsRoute,
    createApiKeyRoute,
    updateApiKeyRoute,
    rotateApiKeyRoute,
    revokeApiKeyRoute,
  ],
}
