// Types and JSON schemas of API keys.
// Knows nothing about the database.
import { type Static, Type } from 'typebox'
import { Int64 } from '../int64-schema.ts'
import { type Scope, SCOPES } from '../scopes.ts'

/** The properties of a key. The key itself is shown only once, on creation. */
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

/** Shown instead of the name of a key for changes that the service itself makes, so no key may have this name. */
export const SERVICE_NAME = 'petstore'

/** Whether a reader could mistake the name for SERVICE_NAME. Ignores case, blanks and invisible characters. */
export function isServiceName(name: string): boolean {
  const visible = name.normalize('NFKC').replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return visible.toLowerCase() === SERVICE_NAME
}

export const SERVICE_NAME_FAULT = `name must not be "${SERVICE_NAME}", which stands for the service itself. Create a key with another name.`

const NAME_LENGTH_MAX = 100
export const LIFETIME_SECONDS_MAX = 10 * 365 * 86_400
/** How long a rotated key stays valid if the request has no `overlapSeconds`. */
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
  description: `Name of the client that uses the key. A new key cannot be named \`${SERVICE_NAME}\`, which stands for the service itself.`,
})
const rateLimit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: RATE_LIMIT_MAX,
    description: 'Max requests per second with this key. Default: the rate limit of the service.',
  }),
)
const time = (description: string) =>
  Type.Optional(Type.Unsafe<Date>({ type: 'string', format: 'date-time', description }))

const OwnApiKeySchema = Type.Object(
  { name, scopes, expiresAt: time('When the key expires. Absent if it does not expire.') },
  { $id: 'OwnApiKey', description: 'The API key in the request.' },
)

const properties = {
  id: Int64,
  name,
  scopes,
  rateLimit,
  createdAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
  lastUsedAt: time('When the key was last used. Updated once a minute.'),
  expiresAt: time('When the key expires. Absent if it does not expire.'),
  revokedAt: time('When the key was revoked. Absent if it is not revoked.'),
}
const ApiKeySchema = Type.Object(properties, {
  $id: 'ApiKey',
  description: 'An API key, without the key itself.',
})

const IssuedApiKeySchema = Type.Object(
  { ...properties, key: Type.String({ description: 'The key itself. Only this response contains it.' }) },
  { $id: 'IssuedApiKey', description: 'A new API key.' },
)

const ApiKeysSchema = Type.Unsafe<ApiKey[]>({
  $id: 'ApiKeys',
  type: 'array',
  items: { $ref: 'ApiKey#' },
  description: 'API keys, newest first.',
})

const ApiKeyRequestSchema = Type.Object(
  {
    name,
    scopes: Type.Optional(scopes),
    rateLimit,
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIFETIME_SECONDS_MAX,
        description: 'Lifetime of the key, in seconds. Without it, the key does not expire.',
      }),
    ),
  },
  {
    $id: 'NewApiKey',
    description: 'The API key to create. `scopes` defaults to `pets:read` and `pets:write`.',
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
        description: 'Max seconds that the old key stays valid. It does not outlive its own expiry.',
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
