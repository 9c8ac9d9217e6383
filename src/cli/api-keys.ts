// `petstore api-keys`: create, list, rename, rotate and revoke keys. A new key is the only output on standard output, so
// that scripts can capture it.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { IssuedApiKey } from '../access/api-keys/api-keys.ts'
import { type DeprecatedUse, findAllApiKeys, listDeprecatedUse } from '../access/api-keys/queries.ts'
import {
  LIFETIME_SECONDS_MAX,
  NAME_LENGTH_MAX,
  OVERLAP_SECONDS_DEFAULT,
  RATE_LIMIT_MAX,
  SERVICE_NAME_FAULT,
} from '../access/api-keys/rules.ts'
import type { ApiKey } from '../access/api-keys/schema.ts'
import { type Config, readConfig } from '../config/config.ts'
import { isServiceName } from '../contract/actor.ts'
import { AppError } from '../contract/errors.ts'
import { DEFAULT_SCOPES, isScope, SCOPES, type Scope } from '../contract/scopes.ts'
import type { Db } from '../db/database.ts'
import { REMOVALS } from '../store/pets/deprecation.ts'
import { countCodePoints, countOf } from '../values/count-text.ts'
import { stringifyJson } from '../values/json.ts'
import { parseDuration, parseIdArgument, parseInteger } from './terminal/arguments.ts'
import { CommandError, print, say, table } from './terminal/terminal.ts'
import { withDatabase } from './with-database.ts'

const parseLifetime = parseDuration(LIFETIME_SECONDS_MAX, 'ten years')
const DAY_MS = 86_400_000
const DEPRECATED_LISTED_MAX = 10_000

export function addApiKeys(program: Command): void {
  const apiKeys = program.command('api-keys').description('create, list, rename, rotate and revoke API keys')
  addCreate(apiKeys)
  addList(apiKeys)
  addRename(apiKeys)
  addRevoke(apiKeys)
  addRotate(apiKeys)
}

function addCreate(apiKeys: Command): void {
  apiKeys
    .command('create')
    .usage('--name <name> [options]')
    .description('create a key and print it; the key cannot be shown again')
    .requiredOption(
      '--name <name>',
      `name of the program or person that uses the key, 1 to ${NAME_LENGTH_MAX} characters (required)`,
      parseName,
    )
    .addOption(
      new Option('--scopes <list>', `scopes of the key, separated by commas: ${SCOPES.join(', ')}`)
        .argParser(parseScopes)
        .default([...DEFAULT_SCOPES], DEFAULT_SCOPES.join(',')),
    )
    .option(
      '--expires <duration>',
      'lifetime of the key, such as 90d, 12h or 30m (default: no expiry)',
      parseLifetime,
    )
    .option(
      '--rate-limit <n>',
      'max requests per second with this key, per process (default: the value of RATE_LIMIT_PER_SECOND)',
      parseInteger(1, RATE_LIMIT_MAX),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  petstore api-keys create --name web-shop\n  petstore api-keys create --name staff --scopes pets:read,pets:write,orders:read,orders:write --expires 90d',
    )
    .action((options: { name: string; scopes: Scope[]; expires?: number; rateLimit?: number }) =>
      withApiKeys(async (db, config) => {
        const { name, scopes, expires, rateLimit } = options
        const { createApiKey } = await loadApiKeys()
        const issued = await createApiKey(db, config.PETSTORE_ENV, {
          name,
          scopes,
          expiresInSeconds: expires,
          rateLimit,
        })
        printIssued(issued, 'Created')
      }),
    )
}

function addList(apiKeys: Command): void {
  apiKeys
    .command('list')
    .description('list the names, scopes, last use and expiry of all keys, but not the keys themselves')
    .option('--all', 'also list personal keys that are expired or revoked')
    .option(
      '--deprecated',
      'list only keys that have called deprecated operations, with call counts and days until removal',
    )
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  petstore api-keys list --json\n  petstore api-keys list --deprecated',
    )
    .action((options: { json?: boolean; deprecated?: boolean; all?: boolean }) =>
      withApiKeys(async (db) => {
        if (options.deprecated)
          return print(
            describeDeprecatedUse(await listDeprecatedUse(db, DEPRECATED_LISTED_MAX), options.json ?? false),
          )
        const all = await findAllApiKeys(db, options.all ?? false)
        print(options.json ? stringifyJson(all.map(toListEntry), 2) : toTable(all))
      }),
    )
}

function addRename(apiKeys: Command): void {
  apiKeys
    .command('rename')
    .usage('<id> --name <name>')
    .description('rename the program that a key belongs to, also in its history, orders and events')
    .argument('<id>', 'id of one of its keys, from `petstore api-keys list`', parseIdArgument)
    .requiredOption('--name <name>', `1 to ${NAME_LENGTH_MAX} characters (required)`, parseName)
    .addHelpText('after', '\nExample:\n  petstore api-keys rename 3 --name web-shop')
    .action((id: bigint, { name }: { name: string }) =>
      withApiKeys(async (db) => {
        const { renameApiKey } = await loadApiKeys()
        await explainMissing(renameApiKey(db, id, name), id, 'No key of a program')
        say(`The program of key ${id} is now called ${name}.`)
      }),
    )
}

function addRevoke(apiKeys: Command): void {
  apiKeys
    .command('revoke')
    .description('revoke a key; within a second, every instance rejects it')
    .argument('<id>', 'id of the key, from `petstore api-keys list`', parseIdArgument)
    .addHelpText('after', '\nExample:\n  petstore api-keys revoke 3')
    .action((id: bigint) =>
      withApiKeys(async (db) => {
        const { revokeApiKey } = await loadApiKeys()
        const { name } = await explainMissing(revokeApiKey(db, id), id)
        say(`Revoked key ${id} (${name}).`)
      }),
    )
}

function addRotate(apiKeys: Command): void {
  apiKeys
    .command('rotate')
    .description(
      'replace a key with a new one of the same name, scopes, rate limit and lifetime, and print the new key',
    )
    .argument('<id>', 'id of the key to replace, from `petstore api-keys list`', parseIdArgument)
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid, such as 1h or 30m')
        .argParser(parseLifetime)
        .default(OVERLAP_SECONDS_DEFAULT, '24h'),
    )
    .addHelpText('after', '\nExample:\n  petstore api-keys rotate 3 --overlap 1h')
    .action((id: bigint, { overlap }: { overlap: number }) =>
      withApiKeys(async (db, config) => {
        const { rotateApiKey } = await loadApiKeys()
        const issued = await explainMissing(rotateApiKey(db, config.PETSTORE_ENV, id, overlap), id)
        printIssued(issued, `Key ${id} expires in ${countOf(overlap, 'second')}. Created`)
      }),
    )
}

/** Loads the schemas too, which other commands do not need: without the schemas, they start in half the time. */
const loadApiKeys = () => import('../access/api-keys/api-keys.ts')

async function explainMissing<Result>(
  work: Promise<Result>,
  id: bigint,
  what = 'No valid key',
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'api_key_not_found') throw error
    throw new CommandError(`${what} has the id ${id}. List all keys with: petstore api-keys list`)
  }
}

function withApiKeys(work: (db: Db, config: Config) => Promise<void>): Promise<void> {
  const config = readConfig()
  return withDatabase(config.DATABASE_URL, 'petstore-api-keys', (db) => work(db, config))
}

function printIssued(issued: IssuedApiKey, action: string): void {
  say(`${action} key ${issued.id} (${issued.name}) with ${issued.scopes.join(', ')}. It is shown only once:`)
  print(issued.text)
}

function toListEntry({
  id,
  actorId,
  name,
  kind,
  scopes,
  createdAt,
  lastUsedAt,
  expiresAt,
  revokedAt,
}: ApiKey) {
  return {
    id,
    actorId,
    name,
    kind,
    scopes,
    createdAt,
    lastUsedAt: lastUsedAt ?? null,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
  }
}

function toTable(apiKeys: readonly ApiKey[]): string {
  const minute = (date: Date | undefined) => date?.toISOString().slice(0, 16).replace('T', ' ') ?? '-'
  const rows = apiKeys.map((key) => [
    String(key.id),
    key.name,
    key.kind,
    key.scopes.join(','),
    minute(key.createdAt),
    minute(key.lastUsedAt),
    minute(key.expiresAt),
    minute(key.revokedAt),
  ])
  return table([['ID', 'NAME', 'KIND', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'], ...rows])
}

function describeDeprecatedUse(uses: readonly DeprecatedUse[], asJson: boolean): string {
  const rows = uses.map((use) => ({ ...use, daysLeft: daysUntil(REMOVALS[use.operation]) }))
  if (asJson) return stringifyJson(rows, 2)
  if (rows.length === 0) return 'No key has called a deprecated operation.'
  return table([
    ['ID', 'NAME', 'OPERATION', 'CALLS', 'LAST 30 DAYS', 'FIRST', 'LAST', 'DAYS LEFT'],
    ...rows.map((row) =>
      [
        row.apiKeyId,
        row.actor,
        row.operation,
        row.calls,
        row.callsLast30Days,
        row.firstDay,
        row.lastDay,
        row.daysLeft ?? '-',
      ].map(String),
    ),
  ])
}

/** Null if this version does not know the operation: an earlier or later version has counted its calls. */
function daysUntil(removal: Date | undefined): number | null {
  return removal === undefined ? null : Math.max(0, Math.ceil((removal.getTime() - Date.now()) / DAY_MS))
}

function parseName(text: string): string {
  const name = text.trim()
  if (isServiceName(name)) throw new InvalidArgumentError(SERVICE_NAME_FAULT)
  if (name !== '' && countCodePoints(name) <= NAME_LENGTH_MAX) return name
  throw new InvalidArgumentError(`A name has 1 to ${NAME_LENGTH_MAX} characters.`)
}

function parseScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  if (scopes.every(isScope)) return [...new Set(scopes)]
  throw new InvalidArgumentError(`Valid scopes: ${SCOPES.join(', ')}.`)
}
