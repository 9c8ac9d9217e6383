// API keys, for whoever may hand them out.
import type { CallOptions, Send } from './call.ts'
import { idText } from './ids.ts'
import type { IdInput, IssuedApiKey, ListApiKeysQuery, NewApiKey, OwnApiKey, Rotation } from './interface.ts'
import { listOf } from './lists.ts'

export type ApiKeys = ReturnType<typeof apiKeysOf>

export function apiKeysOf(send: Send) {
  return {
    /** What the key in use may do. */
    own: async (options?: CallOptions): Promise<OwnApiKey> => {
      const path = '/api-keys/self'
      return (await send({ operation: 'getOwnApiKey', method: 'GET', path, idempotent: true }, options)).value
    },

    /** Newest first, revoked ones too. */
    list: (query?: ListApiKeysQuery, options?: CallOptions) =>
      listOf(send, 'listApiKeys', () => '/api-keys', query, options),

    /** Makes a key. A second attempt would make a second one, whose text nobody has seen. */
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

    /** Makes a successor. A second attempt would make a second one, whose text nobody has seen. */
    rotate: async (id: IdInput, rotation: Rotation = {}, options?: CallOptions): Promise<IssuedApiKey> => {
      const path = `/api-keys/${idText(id)}/rotate` as const
      const call = { operation: 'rotateApiKey', method: 'POST', path, body: rotation } as const
      return (await send({ ...call, idempotent: false }, options)).value
    },

    /** Ends a key. The service answers a second attempt like the first. */
    revoke: async (id: IdInput, options?: CallOptions): Promise<void> => {
      const path = `/api-keys/${idText(id)}` as const
      await send({ operation: 'revokeApiKey', method: 'DELETE', path, idempotent: true }, options)
    },
  }
}
