// JSON schemas of the responses under /auth. They are not part of openapi.json, which describes the operations under /v1.
import { Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'

export const ProviderSchema = Type.Object({
  provider: Type.Union([Type.Object({ name: Type.String(), startUrl: Type.String() }), Type.Null()]),
})

/** The key itself is in this response only. */
export const PersonalApiKeySchema = Type.Object({
  id: Int64,
  actorId: Int64,
  key: Type.String(),
  name: Type.String(),
  role: Type.String(),
  scopes: Type.Array(Type.String()),
  expiresAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time' }),
  returnTo: Type.String(),
})
