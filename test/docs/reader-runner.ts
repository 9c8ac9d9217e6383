// Runs the documents for readers of the quick start as these readers have them: with the service of `npm run dev`, in a
// clone and in the project that the quick start creates next to it, with the Node of the host, one document after the other
// on the same data.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sql } from '../support/database.ts'
import { type DevService, newDataFolder, startDev } from '../support/dev-service.ts'
import { type Document, ROOT } from '../support/documents.ts'
import { executableFunction } from './command-server.ts'
import { API_KEY_ON_PAGE, likeAClone } from './guide-runner.ts'
import { type Guide, PROLOGUE } from './guide.ts'
import { type Printed, runPages } from './page-shell.ts'

const QUICK_START = 'docs/quick-start.md'
const SET_UP = 'command-line.md#set-up'
/** Programs of pages that need a newer Node than the host has run with the one of the clone, as the pages say. */
const NODE_MAJOR_OF_PROGRAMS = 24

/** The documents that the README lists for developers and shop staff, in this order, after the quick start and the README. */
export function readerPaths(documents: readonly Document[]): string[] {
  const readme = documents.find(({ path }) => path === 'README.md')
  const rows = readme?.text.match(/^\| (?:a developer who calls the API|shop staff) \|.*$/gm) ?? []
  const links = rows.flatMap((row) => [...row.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, path = '']) => path))
  if (!links.includes(QUICK_START)) throw new Error('the README does not list the quick start for developers')
  return [...new Set([QUICK_START, 'README.md', ...links])]
}

export interface ReaderRunner {
  /** Everything that the service has printed so far. */
  log: () => string
  run: (guide: Guide) => Promise<Map<string, Printed>>
}

export interface ReaderOptions {
  guides: readonly Guide[]
  documents: readonly Document[]
  /** The URL of command-server.ts. */
  commandServer: string
}

export function openReaderRunner({ guides, documents, commandServer }: ReaderOptions): ReaderRunner {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-reader-'))
  const data = newDataFolder()
  // Only a reader's document starts the service, because it takes seconds.
  let starting: Promise<DevService> | undefined
  let service: DevService | undefined
  afterAll(async () => {
    await starting?.then(({ stop }) => stop()).catch(() => {})
    for (const path of [folder, data]) rmSync(path, { recursive: true, force: true })
  })
  const clone = join(folder, 'petstore')
  const project = join(folder, 'my-project')
  const runs = new Map<string, Promise<Map<string, Printed>>>()

  async function open(): Promise<DevService> {
    if (starting === undefined) {
      likeAClone(clone)
      symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
      writeNode(folder, clone)
    }
    starting ??= startWithLongHolds(data)
    service = await starting
    return service
  }

  /** Runs a document once, after the quick start, which creates the project. */
  async function run(guide: Guide): Promise<Map<string, Printed>> {
    const first = guide.continues ?? guide.path
    if (first !== QUICK_START) await runOnce(QUICK_START)
    return runOnce(first)
  }

  function runOnce(first: string): Promise<Map<string, Printed>> {
    const running = runs.get(first) ?? runFrom(first)
    runs.set(first, running)
    return running
  }

  async function runFrom(first: string): Promise<Map<string, Printed>> {
    const pages = guides.filter(({ path, continues }) => path === first || continues === first)
    const dev = await open()
    return runPages(pages, {
      folder: clone,
      prologue: `${PROLOGUE}${executableFunction(join(clone, 'bin/petstore.ts'))}${startOf(first, documents)}`,
      asTyped: (text) =>
        text
          .replaceAll('http://127.0.0.1:3000', dev.origin)
          .replaceAll(/postgres:\/\/[^\s'"]+/g, dev.databaseUrl)
          .replaceAll(API_KEY_ON_PAGE, dev.apiKey),
      asWritten: (text) => text.replaceAll(dev.origin, 'http://127.0.0.1:3000'),
      environment: {
        PATH: hostPath(folder),
        HOME: process.env['HOME'] ?? '',
        EXECUTABLE: join(clone, 'bin/petstore.ts'),
        COMMAND_SERVER: commandServer,
        CLONE: clone,
        PROJECT: project,
        // The quick start sets these two, in the terminal in which the reader continues.
        PETSTORE_URL: dev.origin,
        PETSTORE_API_KEY: dev.apiKey,
        NPM_CONFIG_UPDATE_NOTIFIER: 'false',
        // The client comes from the service, and depends on nothing.
        NPM_CONFIG_REGISTRY: 'http://127.0.0.1:9/',
        NPM_CONFIG_AUDIT: 'false',
      },
    })
  }

  return { log: () => service?.output() ?? '', run }
}

/**
 * The first demo hold ends after 11 minutes. On a slow host, that would change the output of a document. So would a restart,
 * because a file in node_modules was touched.
 */
async function startWithLongHolds(data: string): Promise<DevService> {
  const dev = await startDev(['--data', data, '--no-watch'])
  await sql(
    dev.databaseUrl,
    `update orders set expires_at = expires_at + interval '1 day' where status = 'open'`,
  )
  return dev
}

/** The reader defines `petstore` as the document says, and continues in the project, unless the document is about the clone. */
function startOf(path: string, documents: readonly Document[]): string {
  const find = (name: string) => documents.find((document) => document.path === name)
  if (['README.md', QUICK_START, 'docs/command-line.md'].includes(path)) return 'cd "$CLONE"\n'
  const setUp = find('docs/command-line.md')?.blocks.find(({ text }) => text.includes('petstore() {'))
  const definition = find(path)?.text.includes(SET_UP) ? (setUp?.text ?? '') : ''
  return `cd "$CLONE"\n${definition}cd "$PROJECT"\n`
}

/** The PATH of the reader's terminal, without the programs that npm adds for a script. */
function hostPath(folder: string): string {
  const folders = (process.env['PATH'] ?? '').split(':')
  return [join(folder, 'bin'), ...folders.filter((path) => !path.includes('node_modules'))].join(':')
}

/** A `node` that runs TypeScript with the Node of the clone if that of the host is too old. */
function writeNode(folder: string, clone: string): void {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const env = { PATH: hostPath(folder) }
  const host = execFileSync('sh', ['-c', 'command -v node'], { env, encoding: 'utf8' }).trim()
  const [, major] = /^v(\d+)/.exec(execFileSync(host, ['--version'], { encoding: 'utf8' })) ?? []
  const forPrograms = Number(major) < NODE_MAJOR_OF_PROGRAMS ? join(clone, 'node_modules/.bin/node') : host
  // That of Debian, for which .ci/install has installed httpx.
  symlinkSync('/usr/bin/python3', join(bin, 'python3'))
  const script = `#!/bin/sh\ncase "$1" in *.mts) exec "${forPrograms}" "$@" ;; esac\nexec "${host}" "$@"\n`
  writeFileSync(join(bin, 'node'), script)
  chmodSync(join(bin, 'node'), 0o755)
}
