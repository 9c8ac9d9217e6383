// openapi.json, made from the schemas that the operations validate and answer by.
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { API_KEY_SCHEMAS } from '../api-keys/schema.ts'
import type { Scope } from '../scopes.ts'
import { CATEGORY_SCHEMAS } from '../categories/schema.ts'
import { HISTORY_SCHEMAS } from '../history/schema.ts'
import { INVENTORY_SCHEMAS } from '../inventory/schema.ts'
import { ORDER_SCHEMAS } from '../orders/schema.ts'
import { PET_SCHEMAS } from '../pets/schema.ts'
import { ErrorSchema } from '../http/operation.ts'
import { ERRORS_PAGE } from '../http/page-addresses.ts'

const VERSION_PREFIX = '/v1'

const DESCRIPTION = `The catalogue of a pet store: list animals, add one, read one, and sell each of them once.

Every operation needs an API key, sent as a bearer token. Every answer that is not a success carries an Error:
[every code and what to do about it](${ERRORS_PAGE}).
Ids are 64-bit integers: read them with a parser that does not round above 2^53. Text is counted in code points and
is well-formed Unicode without NUL. Numbers in an address are plain digits. Fields and parameters that are not
named here are ignored. \`x-scope\` is what a key must be allowed to do, \`x-not-with\` what a parameter excludes.`

const SCHEMAS = [
  ErrorSchema,
  ...PET_SCHEMAS,
  ...HISTORY_SCHEMAS,
  ...INVENTORY_SCHEMAS,
  ...CATEGORY_SCHEMAS,
  ...ORDER_SCHEMAS,
  ...API_KEY_SCHEMAS,
]

const TAGS = [
  { name: 'pets', description: 'The animals of the catalogue.' },
  { name: 'categories', description: 'What kinds of animals there are.' },
  { name: 'store', description: 'Selling animals, each of them once.' },
  { name: 'api-keys', description: 'Who may call, and what they may do.' },
]

export async function describeInterface(app: FastifyInstance): Promise<void> {
  for (const schema of SCHEMAS) app.addSchema(schema)

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Petstore',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      servers: [
        server('Production', 'https://petstore.example'),
        server('Staging', 'https://staging.petstore.example'),
      ],
      tags: TAGS,
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'The API key, as a bearer token.' },
        },
      },
      security: [{ apiKey: [] }],
    },
    refResolver: { buildLocalReference: (json) => json['$id'] as string },
    transform: ({ schema, url, route }) => ({
      // Not as roles in `security`: a client would be told that its key is needed in another way than before.
      schema: { ...schema, ...describeScope(schema?.description, route.config?.scope) } as typeof schema,
      url: url.replace(VERSION_PREFIX, ''),
    }),
  })
}

/** For programs as `x-scope`, for readers of the reference page as the last sentence. */
function describeScope(description: string | undefined, scope: Scope | 'any' | undefined) {
  if (scope === undefined) return {}
  const sentence = scope === 'any' ? 'Any API key may call it.' : `Needs the scope \`${scope}\`.`
  return { description: description ? `${description}\n\n${sentence}` : sentence, 'x-scope': scope }
}

function server(description: string, origin: string) {
  return {
    description,
    url: `{origin}${VERSION_PREFIX}`,
    variables: { origin: { default: origin, description: `Where ${description.toLowerCase()} is.` } },
  }
}
