// HTTP routes for the settings of the shop: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in settings.ts.
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../contract/caller.ts'
import type { Db } from '../../db/database.ts'
import { etag, ifMatch, ifMatchHeaders } from '../../http/etag.ts'
import { response, type V1 } from '../../http/operation.ts'
import type { CurrentSettings } from './current-settings.ts'
import { SETTINGS_EXAMPLE, SETTINGS_SCHEMAS, SettingsChangeRef, SettingsSchema } from './schema.ts'
import { type ChangedSettings, changeSettings, getSettings } from './settings.ts'

interface SettingsServices {
  db: Db
  settings: CurrentSettings
}

const HEADERS = { ETag: 'Version of the settings, for `If-Match`.' }
const EXAMPLE = { ...SETTINGS_EXAMPLE, openMoney: { holds: 6, deposits: 1, days: 1 } }

function getSettingsRoute(app: V1, { db }: SettingsServices): void {
  app.route({
    method: 'GET',
    url: '/store/settings',
    // Every program that shows money needs them.
    config: { scope: 'any', showsHolds: false },
    schema: {
      operationId: 'getSettings',
      summary: 'Get the settings of the shop',
      tags: ['store'],
      response: {
        200: response(SettingsSchema, { description: 'The settings.', example: EXAMPLE, headers: HEADERS }),
      },
    },
    handler: async (request, reply) => {
      const settings = await getSettings(db, (request.caller as Caller).scopes.includes('admin'))
      reply.header('etag', etag(settings.version))
      return settings
    },
  })
}

function updateSettingsRoute(app: V1, { db, settings }: SettingsServices): void {
  app.route({
    method: 'PATCH',
    url: '/store/settings',
    config: {
      scope: 'admin',
      errors: ['money_open'],
      retry: {
        rule: 'with If-Match',
        effect:
          'After a change by another client, or if the first attempt succeeded, a retry returns 412 `precondition_failed`. `GET /v1/store/settings` returns the `ETag`.',
      },
    },
    schema: {
      operationId: 'updateSettings',
      summary: 'Change the settings of the shop',
      description:
        'Every process follows the change within a second. The currency and the time zone change only while no money is open; prices that are stored keep their currency.',
      tags: ['store'],
      headers: ifMatchHeaders('settings'),
      body: SettingsChangeRef,
      response: {
        200: response(SettingsSchema, { description: 'The settings.', example: EXAMPLE, headers: HEADERS }),
      },
    },
    handler: async (request, reply) => {
      const isExpected = ifMatch(request.headers['if-match'], 'settings')
      // Also after a failure, because the change may have been made.
      const changed = await changeSettings(db, request.body, isExpected).finally(settings.forget)
      logChange(request, changed)
      reply.header('etag', etag(changed.settings.version))
      return changed.settings
    },
  })
}

/** No table has the former settings, so only the log records who changed them. */
function logChange(request: FastifyRequest, { from, to }: ChangedSettings): void {
  if (Object.keys(to).length === 0) return
  const apiKeyId = (request.caller as Caller).id
  request.log.info({ requestId: request.id, apiKeyId, from, to }, 'settings changed')
}

export const SETTINGS = { schemas: SETTINGS_SCHEMAS, operations: [getSettingsRoute, updateSettingsRoute] }
