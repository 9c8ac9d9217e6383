// Commands on the settings of the shop. The currency stays as it is, because another instance follows its change a second
// later: test/store/settings.test.ts changes it.
import * as fc from 'fast-check'
import { callBoth } from '../fixture.ts'
import { getSettings, updateSettings } from '../reference/settings.ts'
import * as some from './choices.ts'
import { type Command, command } from './choices.ts'

const path = '/store/settings'

const get = command({}, async (session, sender) => {
  const call = { operation: 'getSettings', scope: 'any', method: 'GET', path }
  await callBoth(session, sender, call, (_caller, seen, apiKey) => getSettings(session.store, apiKey, seen))
})

const update = command(
  {
    fields: fc.record({
      name: some.optional(fc.constantFrom('', 'Paw & Feather')),
      address: some.optional(fc.constantFrom('', 'Ackerhof 7\n10115 Berlin')),
      isTaxInvoice: some.optional(fc.boolean()),
      currency: some.optional(fc.constant('EUR')),
      timeZone: some.optional(fc.constantFrom('Europe/Berlin', 'Asia/Tokyo')),
    }),
    precondition: fc.constantFrom('none', 'none', 'any', 'current', 'stale'),
  },
  async (session, sender, { fields, precondition }) => {
    const { version } = session.store.settings
    const match = { none: undefined, any: '*', current: `"${version}"`, stale: `"${version - 1}"` }[
      precondition
    ]
    await callBoth(
      session,
      sender,
      {
        operation: 'updateSettings',
        scope: 'admin',
        method: 'PATCH',
        path,
        body: fields,
        headers: { 'if-match': match },
      },
      (_caller, seen, apiKey) => updateSettings(session.store, apiKey, fields, match, seen),
    )
  },
)

export const settingsCommands: fc.WeightedArbitrary<Command>[] = [
  { arbitrary: update, weight: 3 },
  { arbitrary: get, weight: 1 },
]
