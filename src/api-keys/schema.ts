// What an API key is and what it may do.
import { type Static, Type } from 'typebox'
import { Int64 } from '../int64-schema.ts'
import { type Scope, SCOPES } from '../scopes.ts'

/** A key as an operator sees it; the key itself is shown once, when it is made. */
export interface ApiKey {
  id: bigint
  name: string
  scopes: readonly Scope[]
  rateLimit: number | undefined
  createdAt: Date
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
  revokedAt: Date | undefined
}

export interface NewApiKey {
  name: string
  scopes: readonly Scope[]
  rateLimit: number | undefined
  expiresInSeconds: number | undefined
}

/** Stands for the service itself wherever the name of a key is shown, so no key may have it. */
export const SERVICE_NAME = 'petstore'

/** Whether a reader could take this name for that of the service: in other letters, or with blanks. */
export function isServiceName(name: string): boolean {
  const visible = name.normalize('NFKC').replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return visible.toLowerCase() === SERVICE_NAME
}

export const SERVICE_NAME_FAULT = `name must not be "${SERVICE_NAME}", which stands for the service itself. Create a key with another name.`

const NAME_LENGTH_MAX = 100
export const LIFETIME_SECONDS_MAX = 10 * 365 * 86_400
/** How long a rotated key stays valid unless the caller says otherwise. */
export const OVERLAP_SECONDS_DEFAULT = 86_400
export const LIST_LIMIT_DEFAULT = 20
export const RATE_LIMIT_MAX = 1_000_000

const scopes = Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: SCOPES }), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
})
const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: `Who or what uses it. A new key cannot be named \`${SERVICE_NAME}\`, which stands for the service itself.`,
})
const rateLimit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: RATE_LIMIT_MAX, description: 'Requests per second for this key.' }),
)
const time = (description: string) =>
  Type.Optional(Type.Unsafe<Date>({ type: 'string', format: 'date-time', description }))

const OwnApiKeySchema = Type.Object(
  { name, scopes, expiresAt: time('When it ends by itself.') },
  { $id: 'OwnApiKey', description: 'The key that you are calling with.' },
)

const facts = {
  id: Int64,
  name,
  scopes,
  rateLimit,
  createdAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
  lastUsedAt: time('To the minute.'),
  expiresAt: time('When it ends by itself.'),
  revokedAt: time('When it was revoked.'),
}
const ApiKeySchema = Type.Object(facts, { $id: 'ApiKey', description: 'A key, without its text.' })

const IssuedApiKeySchema = Type.Object(
  { ...facts, key: Type.String({ description: 'The key itself, shown this once.' }) },
  { $id: 'IssuedApiKey', description: 'A new key.' },
)

const ApiKeysSchema = Type.Unsafe<ApiKey[]>({
  $id: 'ApiKeys',
  type: 'array',
  items: { $ref: 'ApiKey#' },
  description: 'Keys, newest first.',
})

const ApiKeyRequestSchema = Type.Object(
  {
    name,
    scopes: Type.Optional(scopes),
    rateLimit,
    expiresInSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LIFETIME_SECONDS_MAX })),
  },
  {
    $id: 'NewApiKey',
    description: 'A key to make. Without scopes it may read and write animals.',
    examples: [{ name: 'web-shop', scopes: ['pets:read', 'orders:write'], expiresInSeconds: 7_776_000 }],
  },
)
export const ApiKeyRequestRef = Type.Unsafe<Static<typeof ApiKeyRequestSchema>>({ $ref: 'NewApiKey#' })

const RotationSchema = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIFETIME_SECONDS_MAX,
        default: OVERLAP_SECONDS_DEFAULT,
        description: 'How long the old key works on.',
      }),
    ),
  },
  { $id: 'Rotation', examples: [{ overlapSeconds: 3600 }] },
)
export const RotationRef = Type.Unsafe<Static<typeof RotationSchema>>({ $ref: 'Rotation#' })

export const API_KEY_SCHEMAS = [
  OwnApiKeySchema,
  ApiKeySchema,
  IssuedApiKeySchema,
  ApiKeysSchema,
  ApiKeyRequestSchema,
  RotationSchema,
]

export const ApiKeyParams = Type.Object({ apiKeyId: Int64 }, { notFound: 'api_key_not_found' })
