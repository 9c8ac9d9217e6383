// API keys. All operations except `own` and `revokeOwn` need the scope `admin`.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type {
  ApiKey,
  ApiKeyChanges,
  DeprecatedCall,
  IdInput,
  IssuedApiKey,
  ListApiKeysQuery,
  ListDeprecatedCallsQuery,
  NewApiKey,
  OwnApiKey,
  Rotation,
} from './interface.ts'
import { listOf } from './lists.ts'

export type ApiKeys = ReturnType<typeof apiKeysOf>

export function apiKeysOf(send: Send) {
  return {
    /** The name, scopes and expiry of the key that this client uses. */
    own: async (options?: CallOptions): Promise<OwnApiKey> => {
      const path = '/api-keys/self'
      return (await send({ operation: 'getOwnApiKey', method: 'GET', path, idempotent: true }, options)).value
    },

    /** Revokes the key that this client uses. Within a second, every instance rejects it. */
    revokeOwn: async (options?: CallOptions): Promise<void> => {
      const path = '/api-keys/self'
      // If an earlier attempt has revoked the key, a retry gets 401.
      const call = { operation: 'revokeOwnApiKey', method: 'DELETE', path, idempotent: true } as const
      await send({ ...call, successCode: 'invalid_api_key' }, options)
    },

    /** Lists which keys have called deprecated operations, those with the most calls in the last 30 days first. */
    deprecatedCalls: async (
      query: ListDeprecatedCallsQuery = {},
      options?: CallOptions,
    ): Promise<DeprecatedCall[]> => {
      const path = '/api-keys/deprecated-calls'
      const call = { operation: 'listDeprecatedCalls', method: 'GET', path, query, idempotent: true } as const
      return (await send(call, options)).value
    },

    /** Lists keys, newest first, including revoked ones. */
    list: (query?: ListApiKeysQuery, options?: CallOptions) =>
      listOf(send, 'listApiKeys', () => '/api-keys', query, options),

    /** Creates a key. Not retried if the outcome is unknown: a second attempt could create a second, unused key. */
    create: async (apiKey: NewApiKey, options?: CallOptions): Promise<IssuedApiKey> => {
      const path = '/api-keys'
      const call = {
        operation: 'createApiKey',
        method: 'POST',
        path,
        body: apiKey,
        idempotent: false,
      } as const
      return (await send(call, options)).value
    },

    /** Renames the program that a key belongs to. The key of a person is rejected with `api_key_not_found`. */
    update: async (id: IdInput, changes: ApiKeyChanges, options?: CallOptions): Promise<ApiKey> => {
      const path = `/api-keys/${idText(id)}` as const
      const call = { operation: 'updateApiKey', method: 'PATCH', path, body: changes } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Creates a replacement for a key. Not retried if the outcome is unknown, for the same reason as `create`. */
    rotate: async (id: IdInput, rotation: Rotation = {}, options?: CallOptions): Promise<IssuedApiKey> => {
      const path = `/api-keys/${idText(id)}/rotate` as const
      const call = { operation: 'rotateApiKey', method: 'POST', path, body: rotation } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Revokes a key. Idempotent. */
    revoke: async (id: IdInput, options?: CallOptions): Promise<void> => {
      const path = `/api-keys/${idText(id)}` as const
      await send({ operation: 'revokeApiKey', method: 'DELETE', path, idempotent: true }, options)
    },
  }
}
