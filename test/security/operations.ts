// Every operation, read from openapi.json and from the routes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import type { V1 } from '../../src/http/operation.ts'
import { OPERATIONS, type Services } from '../../src/server/features.ts'

export interface Operation {
  operationId: string
  method: string
  /** Each parameter is an id that does not exist, so an allowed call changes nothing. */
  path: string
  body: object | undefined
  /** The statuses in openapi.json. */
  statuses: string[]
  description: string
  /** The `x-scope` in openapi.json. */
  scope: string
}

interface DocumentedOperation {
  operationId: string
  description?: string
  'x-scope': string
  requestBody?: unknown
  responses: Record<string, unknown>
}

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, DocumentedOperation>>
}

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, { operationId, description = '', requestBody, responses, ...rest }]) => ({
    operationId,
    scope: rest['x-scope'],
    method: verb.toUpperCase(),
    path: `/v1${path.replace(/\{\w+\}/g, '9223372036854775807')}`,
    body: requestBody === undefined ? undefined : {},
    statuses: Object.keys(responses),
    description,
  })),
)

/** What each route declares, by operation; no handler runs. */
export function declarations(): Record<string, FastifyContextConfig> {
  const routes: RouteOptions[] = []
  const recorder = { route: (route: RouteOptions) => routes.push(route) } as unknown as V1
  const services = new Proxy({}, { get: () => () => {} }) as Services
  for (const addOperation of OPERATIONS) addOperation(recorder, services)
  return Object.fromEntries(routes.map(({ schema, config }) => [schema?.operationId ?? 'none', config ?? {}]))
}
