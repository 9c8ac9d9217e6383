// Types and JSON schemas of API keys.
import { Type } from 'typebox'
import { ACTOR_KINDS, type ActorKind, SERVICE_NAME } from '../../contract/actor.ts'
import { Int64 } from '../../contract/int64-schema.ts'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'
import { LIST_LIMIT_MAX } from '../../contract/paging.ts'
import { type Role, ROLE_SCOPES } from '../../contract/roles.ts'
import { type Scope, SCOPES } from '../../contract/scopes.ts'
import { LIFETIME_SECONDS_MAX, NAME_LENGTH_MAX, OVERLAP_SECONDS_DEFAULT, RATE_LIMIT_MAX } from './rules.ts'

export interface NewApiKey {
  name: string
  scopes: readonly Scope[]
  rateLimit: number | undefined
  expiresInSeconds: number | undefined
}

export interface NewPersonalApiKey {
  name: string
  scopes: readonly Scope[]
  expiresInSeconds: number
  /** Identifies the person at the identity provider. */
  subject: string
}

export const LIST_LIMIT_DEFAULT = 20

const scopes = Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: SCOPES }), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
})
/** Open, because new scopes can be added: clients must accept scopes that they do not know. */
const grantedScopes = Type.Array(Type.Unsafe<Scope>({ type: 'string', examples: SCOPES }), {
  minItems: 1,
  uniqueItems: true,
  description: 'What the key can do. New scopes can be added.',
})
const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: `Present name of the program or person that the key belongs to. A program cannot be named \`${SERVICE_NAME}\`, which stands for the service itself.`,
})
const actorId = Type.Unsafe<bigint>({
  ...Int64,
  description:
    'Id of the program or person that the key belongs to. All keys of a person have the same actor, and so have a key and its successors by rotation: they share their `Idempotency-Key`s.',
})
/** Open, like the scopes. */
const kind = Type.Unsafe<ActorKind>({
  type: 'string',
  examples: ACTOR_KINDS,
  description:
    'What the key belongs to: `program` if an operator created the key, `person` if a person signed in. New kinds can be added.',
})
/** Open, like the scopes. */
const role = Type.Optional(
  Type.Unsafe<Role>({
    type: 'string',
    examples: Object.keys(ROLE_SCOPES),
    description:
      'Role of the person, for a personal key. Absent if no role has the scopes of the key. New roles can be added.',
  }),
)
const rateLimit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: RATE_LIMIT_MAX,
    description: 'Max requests per second with this key. Default: the rate limit of the service.',
  }),
)
const time = (description: string) =>
  Type.Optional(Type.Unsafe<Date>({ type: 'string', format: 'date-time', description }))

export const OwnApiKeySchema = Type.Object(
  {
    id: Int64,
    name,
    kind,
    scopes: grantedScopes,
    expiresAt: time('When the key expires. Absent if it does not expire.'),
    actorId,
  },
  { $id: 'OwnApiKey', description: 'The API key in the request.' },
)

const properties = {
  id: Int64,
  actorId,
  name,
  kind,
  role,
  scopes: grantedScopes,
  rateLimit,
  createdAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
  lastUsedAt: time('When the key was last used. Updated once a minute.'),
  expiresAt: time('When the key expires. Absent if it does not expire.'),
  revokedAt: time('When the key was revoked. Absent if it is not revoked.'),
}
export const ApiKeySchema = Type.Object(properties, {
  $id: 'ApiKey',
  description: 'An API key, without the key itself.',
})
/** The properties of a key. The key itself is shown only once, on creation. */
export type ApiKey = ResponseOf<typeof ApiKeySchema>

export const IssuedApiKeySchema = Type.Object(
  { ...properties, key: Type.String({ description: 'The key itself. Only this response contains it.' }) },
  { $id: 'IssuedApiKey', description: 'A new API key.' },
)

export const ApiKeysSchema = Type.Array(refTo(ApiKeySchema), {
  $id: 'ApiKeys',
  description: 'API keys, newest first.',
})

const count = (description: string) => Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description })
const DeprecatedCallSchema = Type.Object(
  {
    apiKeyId: Type.Unsafe<bigint>({ ...Int64, description: 'Id of the API key.' }),
    actor: Type.String({ description: 'Present name of the program or person that the key belongs to.' }),
    operation: Type.String({ description: 'The deprecated operation, such as `getPet`.' }),
    calls: count('Number of calls since the operation is deprecated.'),
    callsLast30Days: count('Number of calls in the last 30 days.'),
    firstDay: Type.String({ format: 'date', description: 'Day of the first call, in UTC.' }),
    lastDay: Type.String({ format: 'date', description: 'Day of the last call, in UTC.' }),
    removedAt: Type.Optional(
      Type.Unsafe<Date>({
        type: 'string',
        format: 'date-time',
        description:
          'When the operation will be removed. Absent if this version does not know the operation.',
      }),
    ),
  },
  { $id: 'DeprecatedCall', description: 'How often an API key has called a deprecated operation.' },
)
export type DeprecatedCall = ResponseOf<typeof DeprecatedCallSchema>

export const DeprecatedCallsSchema = Type.Array(refTo(DeprecatedCallSchema), {
  $id: 'DeprecatedCalls',
  maxItems: LIST_LIMIT_MAX,
  description: 'Calls of deprecated operations, the most calls in the last 30 days first.',
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
    additionalProperties: false,
    description: 'The API key to create. `scopes` defaults to `pets:read` and `pets:write`.',
    examples: [{ name: 'web-shop', scopes: ['pets:read', 'orders:write'], expiresInSeconds: 7_776_000 }],
  },
)
export const ApiKeyRequestRef = refTo(ApiKeyRequestSchema)

const ApiKeyChangesSchema = Type.Object(
  { name },
  { $id: 'ApiKeyChanges', additionalProperties: false, examples: [{ name: 'web-shop' }] },
)
export const ApiKeyChangesRef = refTo(ApiKeyChangesSchema)

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
  { $id: 'Rotation', additionalProperties: false, examples: [{ overlapSeconds: 3600 }] },
)
export const RotationRef = refTo(RotationSchema)

export const KindParameter = Type.Optional(
  Type.Unsafe<ActorKind>({
    type: 'string',
    enum: ACTOR_KINDS,
    description: 'Return only keys of this kind.',
  }),
)

export const API_KEY_SCHEMAS = [
  OwnApiKeySchema,
  ApiKeySchema,
  IssuedApiKeySchema,
  ApiKeysSchema,
  DeprecatedCallSchema,
  DeprecatedCallsSchema,
  ApiKeyRequestSchema,
  ApiKeyChangesSchema,
  RotationSchema,
]

export const ApiKeyParams = Type.Object({ apiKeyId: Int64 }, { notFound: 'api_key_not_found' })
