// Defects of the settings of the shop.
import type { Defect } from './defect.ts'

const SETTINGS = 'test/store/settings.test.ts'
const RULES = 'src/store/settings/settings.ts'
const QUERIES = 'src/store/settings/queries.ts'
const CURRENT = 'src/store/settings/current-settings.ts'

export const SETTINGS_DEFECTS: readonly Defect[] = [
  {
    name: 'the currency changes while orders are open',
    file: RULES,
    find: `if (names.includes('timeZone') || names.includes('currency')) await`,
    replace: `if (names.includes('timeZone')) await`,
    test: SETTINGS,
    title: 'keep the currency and the time zone while an order is open',
  },
  {
    name: 'a change of the currency does not wait for an order that is being placed',
    file: RULES,
    find: '  await lockOrders(tx)\n',
    replace: '',
    test: SETTINGS,
    title: 'the change waits for a transaction that places an order',
  },
  {
    name: 'a hold that has expired keeps the currency',
    file: QUERIES,
    find: ' and expires_at > statement_timestamp()',
    replace: '',
    test: SETTINGS,
    title: 'keep the currency and the time zone while an order is open',
  },
  {
    name: 'a time zone that PostgreSQL writes in another way is stored',
    file: RULES,
    find: 'if (await isKnownTimeZone(tx, name)) return',
    replace: 'return',
    test: SETTINGS,
    title: 'europe/berlin',
  },
  {
    name: 'two administrators overwrite the settings of each other',
    file: RULES,
    find: 'if (!isExpected(stored.version))',
    replace: 'if (false)',
    test: SETTINGS,
    title: 'a change with the ETag of an earlier version returns 412',
  },
  {
    name: 'everybody sees how much money is open',
    file: 'src/store/settings/routes.ts',
    find: `(request.caller as Caller).scopes.includes('admin')`,
    replace: 'true',
    test: SETTINGS,
    title: 'only an administrator sees what is open',
  },
  {
    name: 'the log does not say who changed the settings',
    file: 'src/store/settings/routes.ts',
    find: `request.log.info({ requestId: request.id, apiKeyId, from, to }, 'settings changed')`,
    replace: '',
    test: SETTINGS,
    title: 'the log says who changed what',
  },
  {
    name: 'a process uses its former settings after its own change',
    file: 'src/store/settings/routes.ts',
    find: '.finally(settings.forget)',
    replace: '',
    test: SETTINGS,
    title: 'a change of the currency applies to the next request',
  },
  {
    name: 'a process never follows a change of the settings by another one',
    file: CURRENT,
    find: '(now() - startedAt < BELIEVED_FOR_MS ? known : undefined)',
    replace: 'known',
    test: SETTINGS,
    title: 'a process follows a change of another process',
  },
  {
    name: 'each request reads the settings again',
    file: CURRENT,
    find: 'if (found !== undefined) [known, startedAt] = [found, started]',
    replace: '',
    test: SETTINGS,
    title: 'settings are read at most once a second',
  },
  {
    name: 'a read of the settings that began before a change is believed',
    file: CURRENT,
    find: '      if (reading !== current) return\n',
    replace: '',
    test: SETTINGS,
    title: 'a read that was in flight during a change',
  },
  {
    name: 'the first migrate ignores the variables of the settings',
    file: 'migrations/0011_settings.sql',
    find: 'coalesce(given_currency, currency)',
    replace: 'currency',
    test: 'test/cli/migrate.process.test.ts',
    title: 'the variables choose the settings of the shop at the first migrate',
  },
  {
    name: 'a variable that differs from the stored setting causes no warning',
    file: 'src/store/settings/initial-settings.ts',
    find: 'if (given === undefined || given === kept) return []',
    replace: 'return []',
    test: 'test/cli/doctor.test.ts',
    title: 'differs from the stored setting',
  },
]
