// The settings of the shop.
import type { CallOptions, Send } from './call.ts'
import type { Settings, SettingsChange } from './interface.ts'
import { type IfMatchOptions, isOneVersion, type Versioned, versioned } from './versions.ts'

/** The settings with their version, which you can pass as `ifMatch`. */
export type VersionedSettings = Settings & Versioned

export type ShopSettings = ReturnType<typeof settingsOf>

export function settingsOf(send: Send) {
  const path = '/store/settings'
  return {
    /** Returns the settings with their `etag`. */
    get: async (options?: CallOptions): Promise<VersionedSettings> =>
      versioned(await send({ operation: 'getSettings', method: 'GET', path, idempotent: true }, options)),

    /** Changes the given settings. Retried after an unknown outcome only with `ifMatch`. */
    update: async (change: SettingsChange, options: IfMatchOptions = {}): Promise<VersionedSettings> => {
      const { ifMatch } = options
      const call = {
        operation: 'updateSettings',
        method: 'PATCH',
        path,
        body: change,
        headers: { 'if-match': ifMatch },
        idempotent: isOneVersion(ifMatch),
      } as const
      return versioned(await send(call, options))
    },
  }
}
