// Generates openapi.json from the schemas that validate requests and serialise responses.
// The descriptions of the operations are in the routes and schemas, not here.
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { isOptionalBody } from '../contract/named-schema.ts'
import { type DeclaredScope, requiredScopes } from '../contract/scopes.ts'
import { EVENT_UNION } from '../events/feed/schema.ts'
import { MESSAGE_SCHEMAS, WEBHOOK_MESSAGE, WEBHOOKS_SECTION } from '../events/webhooks/message-schema.ts'
import { ErrorSchema, type Retry } from '../http/operation.ts'
import { CLIENT_PAGE, ERRORS_PAGE } from '../http/page-addresses.ts'
import { SCHEMAS } from './features.ts'

/** The version of the API under /v1. It does not change with the version of the service. */
const INTERFACE_VERSION = '1.0.0'
const VERSION_PREFIX = '/v1'

const DESCRIPTION = `The catalogue of a pet store: list, add and read pets, and sell each pet only once.
The service serves [its client for TypeScript](${CLIENT_PAGE}).

\`info.version\` is the version of the API, not of the service: it stays ${INTERFACE_VERSION} while /v1 only gets additions, whichever
version of the service returns this document.

Every operation requires an API key, sent as a bearer token. The body of every error response is an \`Error\`;
see [all codes and what to do](${ERRORS_PAGE}).

Ids are 64-bit integers: use a JSON parser that does not round integers above 2^53. Text must be well-formed Unicode
without NUL; its length is counted in code points. Write numbers in a URL as plain digits. An unknown query
parameter returns 400 \`unknown_parameter\`, an unknown field 400 \`invalid_body\`. Only \`createPet\` ignores unknown fields: its
response names them in \`Petstore-Ignored-Fields\`.

The \`x-scope\` of an operation contains the scopes that it requires, separated by blanks; \`any\` stands for none. Its
\`x-retry\` says when a retry is safe even if the earlier attempt took effect, and \`x-retry-effect\` what a retry does. The
\`x-not-with\` of a parameter lists the parameters that cannot be combined with it, or \`name=value\` for one value.
\`x-only-with\` lists the parameters and values that it requires, for each of its own values if that differs.
\`x-required-without\` names the parameter without which it is required. The values in the fields that
\`x-per-item\` lists are checked for each item: a fault is the \`error\` in the result of the item. No two items have the same value of a field with
\`x-unique\`. A time with \`x-within-minutes\` must be in the future, and at most this many minutes from now. While money is open,
the value of a field with \`x-needs-no-open-money\` cannot change.`

const TAGS = [
  { name: 'pets', description: 'The pets of the catalogue, their profiles and their history.' },
  { name: 'categories', description: 'The categories of pets.' },
  {
    name: 'till',
    description:
      'Money: the ledger of sales, deposits and refunds, totals of the days of the shop, and closings. Entries are never changed.',
  },
  {
    name: 'store',
    description:
      'Orders, inventory, figures and the settings of the shop. An open order holds a pet; completing the order sells the pet.',
  },
  { name: 'events', description: 'Every change to pets and orders, in one ordered feed.' },
  { name: 'webhooks', description: 'URLs to which the service sends events.' },
  { name: 'api-keys', description: 'API keys and their scopes.' },
  { name: 'health', description: 'What an administrator has to look at.' },
]

export async function describeInterface(app: FastifyInstance, publicUrl: string): Promise<void> {
  for (const schema of [ErrorSchema, ...SCHEMAS, ...MESSAGE_SCHEMAS]) app.addSchema(schema)
  const withOptionalBody = new Set<unknown>()

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Petstore',
        version: INTERFACE_VERSION,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      // No variables: generators of code do not replace them. The first one is what they call by default.
      servers: [
        { url: `${publicUrl}${VERSION_PREFIX}`, description: 'The service that returned this document' },
        { url: `https://petstore.example${VERSION_PREFIX}`, description: 'Production' },
        { url: `https://staging.petstore.example${VERSION_PREFIX}`, description: 'Staging' },
      ],
      tags: TAGS,
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token.' },
        },
      },
      security: [{ apiKey: [] }],
    },
    // The plugin describes routes only.
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      const { openapiObject } = document
      const { paths = {}, components } = openapiObject
      makeBodiesOptional(paths, withOptionalBody)
      describeLists(paths)
      const responses = shareErrorResponses(paths)
      const headers = shareRequestId([...responsesOf(paths), ...Object.values(responses)])
      const schemas = { ...components?.schemas, ...EVENT_UNION.union, ...WEBHOOK_MESSAGE }
      const more: object = {
        components: { ...components, schemas, headers, responses },
        webhooks: WEBHOOKS_SECTION,
      }
      return { ...openapiObject, ...more }
    },
    refResolver: { buildLocalReference: (json) => json['$id'] as string },
    transform: ({ schema, url, route }) => {
      if (isOptionalBody(schema?.body)) withOptionalBody.add(schema?.operationId)
      return {
        // Not in `security`: there, tools would treat a changed scope as a changed way to authenticate.
        schema: {
          ...schema,
          ...describeScope(schema?.description, route.config?.scope),
          ...describeRetry(route.config?.retry),
        },
        url: url.replace(VERSION_PREFIX, ''),
      }
    },
  })
}

interface DescribedOperation {
  operationId?: string
  requestBody?: { required?: boolean }
}

/** The plugin describes every body as required. */
function makeBodiesOptional(paths: object, operationIds: ReadonlySet<unknown>): void {
  for (const verbs of Object.values(paths) as Record<string, DescribedOperation>[]) {
    for (const { operationId, requestBody } of Object.values(verbs)) {
      if (requestBody !== undefined && operationIds.has(operationId)) requestBody.required = false
    }
  }
}

interface DescribedParameter {
  explode?: boolean
  schema?: { explode?: boolean }
}

/** In a schema, `explode` means nothing to readers: it belongs to the parameter. */
function describeLists(paths: object): void {
  for (const verbs of Object.values(paths) as Record<string, { parameters?: DescribedParameter[] }>[]) {
    for (const parameter of Object.values(verbs).flatMap(({ parameters = [] }) => parameters)) {
      const { explode, ...schema } = parameter.schema ?? {}
      if (explode !== undefined) Object.assign(parameter, { schema, explode })
    }
  }
}

interface DescribedResponse {
  headers?: Record<string, object>
  content?: { 'application/json'?: { schema: { $ref?: string }; examples?: object } }
}

/**
 * Moves the error responses to `components.responses`, where each stands once, named by the codes of its errors. Many
 * operations have the same. Only in the document: Fastify compiles the responses of each route.
 */
function shareErrorResponses(paths: object): Record<string, DescribedResponse> {
  const shared: Record<string, DescribedResponse> = {}
  for (const verbs of Object.values(paths) as Record<string, { responses: object }>[]) {
    for (const { responses } of Object.values(verbs)) {
      for (const [status, response] of Object.entries(responses) as [string, DescribedResponse][]) {
        const { schema, examples = {} } = response.content?.['application/json'] ?? {}
        if (schema?.$ref !== '#/components/schemas/Error') continue
        const name = status === 'default' ? status : Object.keys(examples).join('.')
        shared[name] = response
        Object.assign(responses, { [status]: { $ref: `#/components/responses/${name}` } })
      }
    }
  }
  return shared
}

function responsesOf(paths: object): DescribedResponse[] {
  return Object.values(paths)
    .flatMap((verbs: Record<string, { responses: Record<string, DescribedResponse> }>) =>
      Object.values(verbs),
    )
    .flatMap(({ responses }) => Object.values(responses))
}

/** Moves the header that every response has to `components.headers`, where it stands once. */
function shareRequestId(responses: DescribedResponse[]): Record<string, object> {
  const name = 'X-Request-Id'
  const shared: Record<string, object> = {}
  for (const response of responses) {
    const header = response.headers?.[name]
    if (header === undefined) continue
    shared[name] = header
    response.headers = { ...response.headers, [name]: { $ref: `#/components/headers/${name}` } }
  }
  return shared
}

/** Adds the scopes as `x-scope` for programs, and as the last sentence of the description for readers. */
function describeScope(description: string | undefined, declared: DeclaredScope | undefined) {
  if (declared === undefined) return {}
  const scopes = requiredScopes(declared)
  const names = scopes.map((scope) => `\`${scope}\``).join(' and ')
  const required = `Requires the scope${scopes.length === 1 ? '' : 's'} ${names}.`
  const sentence = scopes.length === 0 ? 'Accepts any API key.' : required
  return {
    description: description ? `${description}\n\n${sentence}` : sentence,
    'x-scope': scopes.join(' ') || 'any',
  }
}

/** Only writes declare how clients can retry them. */
function describeRetry(declared: Retry | undefined) {
  if (declared === undefined) return { 'x-retry': 'safe' }
  return { 'x-retry': declared.rule, 'x-retry-effect': declared.effect }
}
