// Runs the commands of the documents for operators and contributors: each document in a folder that looks like a clone, all
// on one service and one database. Before each document the catalogue is reset to the demo pets. reader-runner.ts runs the
// documents for readers of the quick start.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { createApiKey } from '../../src/access/api-keys/api-keys.ts'
import { SCOPES } from '../../src/contract/scopes.ts'
import { addDemoPets } from '../support/demo-pets.ts'
import type { Db } from '../../src/db/database.ts'
import { createTestDatabase, openTestDatabase, sql } from '../support/database.ts'
import { ROOT } from '../support/documents.ts'
import { asDelivery, asOwner } from '../support/roles.ts'
import { EXECUTABLE, startService } from '../support/service.ts'
import { PETSTORE_FUNCTIONS, startCommandServer } from './command-server.ts'
import { type Guide, PROLOGUE } from './guide.ts'
import { type Printed, runPages } from './page-shell.ts'

const TOOLS = join(ROOT, 'node_modules/.bin')
export const API_KEY_ON_PAGE = /petstore_(?:test|live)_…/g

export interface GuideRunner {
  origin: string
  adminOrigin: string
  /** Contains the folders of all guides. */
  folder: string
  folderOf: (guide: Guide) => string
  commandServer: string
  run: (guide: Guide) => Promise<Map<string, Printed>>
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
    // For the type check.
    for (const { name, text } of guide.files) writeFileSync(join(folderOf(guide), name), asTyped(text))
  }

  const runs = new Map<string, Promise<Map<string, Printed>>>()

  /** Runs a page, and the pages that it continues, once in one shell. */
  function run(guide: Guide): Promise<Map<string, Printed>> {
    const first = guide.continues ?? guide.path
    const pages = guides.filter(({ path, continues }) => path === first || continues === first)
    const running = runs.get(first) ?? runAlone(pages)
    runs.set(first, running)
    return running
  }

  async function runAlone(pages: readonly Guide[]): Promise<Map<string, Printed>> {
    const [first] = pages as [Guide]
    const apiKey = await stockCatalogue(DATABASE_URL, db)
    const { PATH = '', HOME = '' } = process.env
    const printed = await runPages(pages, {
      folder: folderOf(first),
      prologue: PROLOGUE + PETSTORE_FUNCTIONS,
      asTyped: (text) => asTyped(text).replaceAll(API_KEY_ON_PAGE, apiKey),
      asWritten,
      environment: {
        PATH: [TOOLS, PATH].join(':'),
        HOME,
        EXECUTABLE,
        COMMAND_SERVER: commandServer,
        PROJECT: folderOf(first),
        // The quick start sets these two. A page that needs other variables sets them itself.
        PETSTORE_URL: service.origin,
        PETSTORE_API_KEY: apiKey,
        NPM_CONFIG_UPDATE_NOTIFIER: 'false',
        NPM_CONFIG_OFFLINE: 'true',
      },
    })
    for (const statement of pages.flatMap(({ statements }) => statements)) await sql(DATABASE_URL, statement)
    return printed
  }

  const { origin, adminOrigin } = service
  return { origin, adminOrigin, folder, folderOf, commandServer, run }
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

export function likeAClone(folder: string): void {
  mkdirSync(folder)
  for (const name of readdirSync(ROOT)) {
    // `npm pack` builds the client in its folder.
    if (name === 'client') cpSync(join(ROOT, name), join(folder, name), { recursive: true })
    else if (!['node_modules', '.git', '.dev', '.proof'].includes(name)) {
      symlinkSync(join(ROOT, name), join(folder, name))
    }
  }
}

const TABLES = `pets, orders, entries, day_closings, pet_history, categories, actors, api_keys, idempotency_keys, deprecated_calls, imports,
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
      alter table entries disable trigger entries_are_final;
      alter table day_closings disable trigger closings_are_final;
      truncate entries, day_closings, pets, orders, pet_history, categories, actors, api_keys, idempotency_keys, deprecated_calls, imports, webhooks
        restart identity cascade;
      alter table entries enable trigger entries_are_final;
      alter table day_closings enable trigger closings_are_final;
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
