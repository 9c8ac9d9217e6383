// Runs the commands of the documents: each document in a folder that looks like a clone, all on one service and one
// database. Before each document the catalogue is reset to that of `npm run dev`.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { addDemoPets } from '../../src/demo/demo-pets.ts'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { SCOPES } from '../../src/scopes.ts'
import type { Db } from '../../src/db/database.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { asDelivery, asOwner } from '../support/roles.ts'
import { EXECUTABLE, startService } from '../support/service.ts'
import { startCommandServer } from './command-server.ts'
import { ROOT } from './documents.ts'
import { type Guide, HTTP_MARK, PROLOGUE, STEP_MARK } from './guide.ts'

/** A page takes only seconds on an idle host. */
const SCRIPT_TIMEOUT_MS = 240_000
export const GUIDE_TIMEOUT_MS = SCRIPT_TIMEOUT_MS + 60_000
const TOOLS = join(ROOT, 'node_modules/.bin')

export interface GuideRunner {
  origin: string
  adminOrigin: string
  /** Contains the folders of all guides. */
  folder: string
  folderOf: (guide: Guide) => string
  /** The log of the service. */
  log: () => string
  run: (guide: Guide) => Promise<Map<string, Printed>>
}

/** The output of a step, and the response statuses of its requests. */
export interface Printed {
  text: string
  statuses: string[]
}

export async function openGuideRunner(guides: readonly Guide[]): Promise<GuideRunner> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-docs-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const folderOf = ({ path }: Guide) => join(folder, path.replaceAll(/[/.]/g, '-'))
  await fillFolder(folder)
  const DATABASE_URL = await createTestDatabase()
  // As in production. The test server has it off, and `petstore doctor` would warn.
  await sql(
    DATABASE_URL,
    `alter database ${new URL(DATABASE_URL).pathname.slice(1)} set synchronous_commit = on`,
  )
  const db = openTestDatabase(DATABASE_URL, 1)
  const service = await startService({
    DATABASE_URL,
    PETSTORE_ENV: 'staging',
    WEBHOOK_NETWORKS: '127.0.0.0/8,::1',
  })
  afterAll(service.stop)
  const commandServer = await startCommandServer()

  /** Replaces the addresses of a page by those of this service and database. */
  const asTyped = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:3000', service.origin)
      .replaceAll('http://127.0.0.1:9090', service.adminOrigin)
      .replaceAll(/postgres:\/\/petstore_app(?::[^@]*)?@[^\s'"]+/g, DATABASE_URL)
      .replaceAll(/postgres:\/\/petstore_deliver(?::[^@]*)?@[^\s'"]+/g, asDelivery(DATABASE_URL))
      .replaceAll(/postgres:\/\/(?!petstore_app|petstore_deliver)[^\s'"]+/g, asOwner(DATABASE_URL))
  const asWritten = (text: string) =>
    text
      .replaceAll(service.origin, 'http://127.0.0.1:3000')
      .replaceAll(service.adminOrigin, 'http://127.0.0.1:9090')

  for (const guide of guides) {
    likeAClone(folderOf(guide))
    for (const { name, text } of guide.files) writeFileSync(join(folderOf(guide), name), asTyped(text))
  }

  const runs = new Map<string, Promise<Map<string, Printed>>>()

  /** Runs a page, and the pages that it continues, once in one shell. */
  function run(guide: Guide): Promise<Map<string, Printed>> {
    const first = guide.continues ?? guide.path
    const pages = guides.filter(({ path, continues }) => path === first || continues === first)
    const running = runs.get(first) ?? runPages(pages)
    runs.set(first, running)
    return running
  }

  async function runPages(pages: readonly Guide[]): Promise<Map<string, Printed>> {
    const [first] = pages as [Guide]
    const apiKey = await stockCatalogue(DATABASE_URL, db)
    const commands = pages.map(({ script }) => script).join('')
    const script = PROLOGUE + asTyped(commands).replaceAll(/petstore_(?:test|live)_…/g, apiKey)
    if (script.includes('…')) throw new Error(`a reader cannot type this: ${/.*….*/.exec(script)?.[0]}`)
    const { PATH = '', HOME = '' } = process.env
    const printed = await runScript(script, folderOf(first), {
      PATH: [TOOLS, PATH].join(':'),
      HOME,
      EXECUTABLE,
      COMMAND_SERVER: commandServer,
      // The quick start sets these two. A page that needs other variables sets them itself.
      PETSTORE_URL: service.origin,
      PETSTORE_API_KEY: apiKey,
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      NPM_CONFIG_OFFLINE: 'true',
    })
    for (const statement of pages.flatMap(({ statements }) => statements)) await sql(DATABASE_URL, statement)
    return new Map(
      [...printed].map(([step, text]) => [
        step,
        {
          text: asWritten(text.replaceAll(HTTP_MARK, '')),
          statuses: [...text.matchAll(HTTP_MARK)].map(([, status = '']) => status),
        },
      ]),
    )
  }

  return { origin: service.origin, adminOrigin: service.adminOrigin, folder, folderOf, log: service.log, run }
}

/** Creates what `npm install` creates: the packages and the built client. */
async function fillFolder(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  const client = join(packages, '@petstore/client')
  mkdirSync(client, { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@petstore') symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  }
  cpSync(join(ROOT, 'client/package.json'), join(client, 'package.json'))
  await promisify(execFile)(join(TOOLS, 'tsc'), [
    '-p',
    join(ROOT, 'client'),
    '--outDir',
    join(client, 'dist'),
  ])
}

function likeAClone(folder: string): void {
  mkdirSync(folder)
  for (const name of readdirSync(ROOT)) {
    // `npm pack` builds the client in its folder.
    if (name === 'client') cpSync(join(ROOT, name), join(folder, name), { recursive: true })
    else if (!['node_modules', '.git', '.dev', '.proof'].includes(name)) {
      symlinkSync(join(ROOT, name), join(folder, name))
    }
  }
}

const TABLES = `pets, orders, pet_history, categories, api_keys, idempotency_keys, deprecated_calls, imports,
  webhooks, webhook_secrets, webhook_retries, webhook_deliveries, pet_count_deltas, pet_counts_by_category, pet_counts`

/**
 * Resets the catalogue to that of `npm run dev`; returns an API key with every scope. Background work of the service locks
 * the tables in another order than `truncate`. This statement never waits for a lock while it holds one, which rules out
 * a deadlock.
 */
async function stockCatalogue(databaseUrl: string, db: Db): Promise<string> {
  await sql(
    databaseUrl,
    `do $$ begin
      loop
        begin
          lock table ${TABLES} in access exclusive mode nowait;
          exit;
        exception when lock_not_available then perform pg_sleep(0.01);
        end;
      end loop;
      truncate pets, orders, pet_history, categories, api_keys, idempotency_keys, deprecated_calls, imports, webhooks
        restart identity cascade;
    end $$`,
  )
  const { text: apiKey } = await createApiKey(db, 'staging', {
    name: 'dev',
    scopes: SCOPES,
    rateLimit: undefined,
    expiresInSeconds: undefined,
  })
  await addDemoPets(db)
  return apiKey
}

/** Returns the output of each step by its name. */
async function runScript(
  script: string,
  cwd: string,
  env: Record<string, string>,
): Promise<Map<string, string>> {
  const child = spawn('bash', ['--norc', '-c', script], { cwd, env, timeout: SCRIPT_TIMEOUT_MS })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const [, ...parts] = output.split(STEP_MARK)
  const steps = new Map<string, string>()
  for (let index = 0; index < parts.length; index += 2) {
    steps.set(parts[index] ?? '', parts[index + 1] ?? '')
  }
  if (code === 0) return steps
  throw new Error(`the step ${parts.at(-2)} failed (${code}):\n${parts.at(-1)}`)
}
