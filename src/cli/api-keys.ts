// `petstore api-keys`: hand out, list, rotate and revoke keys. A new key is all that standard output holds.
import { type Command, InvalidArgumentError } from 'commander'
import { createApiKey, type IssuedApiKey, revokeApiKey, rotateApiKey } from '../api-keys/api-keys.ts'
import { type DeprecatedUse, findAllApiKeys, listDeprecatedUse } from '../api-keys/queries.ts'
import {
  type ApiKey,
  isServiceName,
  LIFETIME_SECONDS_MAX,
  OVERLAP_SECONDS_DEFAULT,
  RATE_LIMIT_MAX,
  SERVICE_NAME_FAULT,
} from '../api-keys/schema.ts'
import { DEFAULT_SCOPES, isScope, SCOPES, type Scope } from '../scopes.ts'
import { type Config, readConfig } from '../config.ts'
import { countOf } from '../counts.ts'
import { type Db, openDatabase } from '../db/database.ts'
import { GET_PET_REMOVAL } from '../pets/deprecation.ts'
import { AppError } from '../errors.ts'
import { parseIdArgument, parseWhole } from './arguments.ts'
import { CommandError, print, say, table } from './terminal.ts'

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const DAY_MS = 86_400_000

export function addApiKeys(program: Command): void {
  const apiKeys = program.command('api-keys').description('hand out, list, rotate and revoke API keys')

  apiKeys
    .command('create')
    .description('make a key and print it, alone, on standard output; it is never shown again')
    .requiredOption('--name <name>', 'who or what will use it, 1 to 100 characters', parseName)
    .option('--scopes <list>', `what it may do, of ${SCOPES.join(', ')}`, parseScopes, [...DEFAULT_SCOPES])
    .option('--expires <duration>', 'when it ends by itself: 90d, 12h, 30m', parseDuration)
    .option('--rate-limit <n>', 'requests per second for this key', parseWhole(1, RATE_LIMIT_MAX))
    .addHelpText(
      'after',
      '\nExamples:\n  petstore api-keys create --name web-shop\n  petstore api-keys create --name staff --scopes pets:read,pets:write,orders:read,orders:write --expires 90d',
    )
    .action((options: { name: string; scopes: Scope[]; expires?: number; rateLimit?: number }) =>
      withDatabase(async (db, config) => {
        const { name, scopes, expires, rateLimit } = options
        const issued = await createApiKey(db, config.PETSTORE_ENV, {
          name,
          scopes,
          expiresInSeconds: expires,
          rateLimit,
        })
        show(issued, 'Made')
      }),
    )

  apiKeys
    .command('list')
    .description('list every key, without its text')
    .option(
      '--deprecated',
      'only who still calls an operation that will be removed, how often, and the days left',
    )
    .option('--json', 'as a JSON array')
    .addHelpText(
      'after',
      '\nExamples:\n  petstore api-keys list --json\n  petstore api-keys list --deprecated',
    )
    .action((options: { json?: boolean; deprecated?: boolean }) =>
      withDatabase(async (db) => {
        if (options.deprecated)
          return print(describeDeprecatedUse(await listDeprecatedUse(db), options.json ?? false))
        const all = await findAllApiKeys(db)
        print(options.json ? JSON.stringify(all.map(toListed), null, 2) : toTable(all))
      }),
    )

  apiKeys
    .command('revoke')
    .description('end a key now; every instance refuses it within a second')
    .argument('<id>', 'its id, from the list', parseIdArgument)
    .addHelpText('after', '\nExample:\n  petstore api-keys revoke 3')
    .action((id: bigint) =>
      withDatabase(async (db) => {
        const { name } = await explainMissing(revokeApiKey(db, id), id)
        say(`Revoked key ${id} (${name}).`)
      }),
    )

  apiKeys
    .command('rotate')
    .description('make a successor with the same rights and print it, alone, on standard output')
    .argument('<id>', 'the key to replace, from the list', parseIdArgument)
    .option('--overlap <duration>', 'how long the old key works on', parseDuration, OVERLAP_SECONDS_DEFAULT)
    .addHelpText(
      'after',
      '\nThe overlap is 24h unless given.\n\nExample:\n  petstore api-keys rotate 3 --overlap 1h',
    )
    .action((id: bigint, { overlap }: { overlap: number }) =>
      withDatabase(async (db, config) => {
        const issued = await explainMissing(rotateApiKey(db, config.PETSTORE_ENV, id, overlap), id)
        show(issued, `Key ${id} ends in ${countOf(overlap, 'second')}. Made`)
      }),
    )
}

async function explainMissing<Result>(work: Promise<Result>, id: bigint): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'api_key_not_found') throw error
    throw new CommandError(`No valid key has the id ${id}. List the keys: petstore api-keys list`)
  }
}

async function withDatabase(work: (db: Db, config: Config) => Promise<void>): Promise<void> {
  const config = readConfig()
  const db = openDatabase({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'petstore-api-keys',
    size: 1,
    // Whoever waits for a statement hears of it there.
    onError: () => {},
  })
  try {
    await work(db, config)
  } finally {
    await db.close()
  }
}

function show(issued: IssuedApiKey, what: string): void {
  say(`${what} key ${issued.id} (${issued.name}) with ${issued.scopes.join(', ')}. It is not shown again:`)
  print(issued.text)
}

function toListed({ id, name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }: ApiKey) {
  return {
    id: Number(id),
    name,
    scopes,
    createdAt,
    lastUsedAt: lastUsedAt ?? null,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
  }
}

function toTable(apiKeys: readonly ApiKey[]): string {
  const day = (date: Date | undefined) => date?.toISOString().slice(0, 16).replace('T', ' ') ?? '-'
  const rows = apiKeys.map((key) => [
    String(key.id),
    key.name,
    key.scopes.join(','),
    day(key.createdAt),
    day(key.lastUsedAt),
    day(key.expiresAt),
    day(key.revokedAt),
  ])
  return table([['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'], ...rows])
}

function describeDeprecatedUse(uses: readonly DeprecatedUse[], asJson: boolean): string {
  const rows = uses.map(({ apiKeyId, calls, callsLast30Days, ...use }) => ({
    apiKeyId: Number(apiKeyId),
    ...use,
    calls: Number(calls),
    callsLast30Days: Number(callsLast30Days),
    daysLeft: Math.max(0, Math.ceil((GET_PET_REMOVAL.getTime() - Date.now()) / DAY_MS)),
  }))
  if (asJson) return JSON.stringify(rows, null, 2)
  if (rows.length === 0) return 'No key has called a deprecated operation.'
  return table([
    ['ID', 'NAME', 'OPERATION', 'CALLS', 'LAST 30 DAYS', 'FIRST', 'LAST', 'DAYS LEFT'],
    ...rows.map((row) =>
      [
        row.apiKeyId,
        row.apiKeyName,
        row.operation,
        row.calls,
        row.callsLast30Days,
        row.firstDay,
        row.lastDay,
        row.daysLeft,
      ].map(String),
    ),
  ])
}

function parseName(text: string): string {
  const name = text.trim()
  if (isServiceName(name)) throw new InvalidArgumentError(SERVICE_NAME_FAULT)
  if (name.length >= 1 && name.length <= 100) return name
  throw new InvalidArgumentError('It must have 1 to 100 characters.')
}

function parseScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  if (scopes.every(isScope)) return [...new Set(scopes)]
  throw new InvalidArgumentError(`Each must be one of ${SCOPES.join(', ')}.`)
}

function parseDuration(text: string): number {
  const [, amount, unit = ''] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? []
  const seconds = Number(amount) * (UNIT_SECONDS[unit] ?? Number.NaN)
  if (seconds <= LIFETIME_SECONDS_MAX) return seconds
  throw new InvalidArgumentError('Write a number and a unit: 90d, 24h, 30m or 60s, ten years at most.')
}
