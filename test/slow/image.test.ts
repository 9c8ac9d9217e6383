// Follows the Dockerfile without Docker: the copied files are enough to run the service, and nothing else is copied.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { readCommand, readCopy, readEnvironment, readStages } from '../support/dockerfile.ts'
import { asOwner } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** The folder that stands for /app. */
const app = mkdtempSync(join(tmpdir(), 'petstore-image-'))
afterAll(() => rmSync(app, { recursive: true, force: true }))
const [build = [], final = []] = readStages(ROOT)

for (const instruction of build) {
  if (instruction.name === 'COPY') {
    const { sources, target } = readCopy(instruction)
    const isFolder = target.endsWith('/')
    if (isFolder) mkdirSync(join(app, target), { recursive: true })
    for (const source of sources) {
      cpSync(join(ROOT, source), join(app, target, isFolder ? basename(source) : ''), { recursive: true })
    }
  } else if (instruction.name === 'RUN') {
    const command = instruction.text.replaceAll('/app', app).replace('npm ci', 'npm ci --prefer-offline')
    execFileSync('sh', ['-c', command], { cwd: app, stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

const executable = join(app, 'bin/petstore.ts')
const filesOf = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()

interface Lock {
  packages: Record<string, { dev?: boolean }>
}

test('contains no dev dependencies, and only the files needed at run time', () => {
  const { packages: known } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock
  const lock = readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8')
  const installed = Object.keys((JSON.parse(lock) as Lock).packages)
  expect(installed).toContain('node_modules/fastify')
  expect(known['node_modules/vitest']?.dev).toBe(true)
  expect(installed.filter((path) => known[path]?.dev === true)).toEqual([])
  expect(readdirSync(app).toSorted()).toEqual([
    'LICENSE',
    'bin',
    'client',
    'console',
    'deploy',
    'migrations',
    'node_modules',
    'package.json',
    'src',
  ])
})

test('every user can read the files, and only the owner can write them', () => {
  for (const path of filesOf(app)) {
    const { mode } = statSync(join(app, path))
    expect(mode & 0o044, path).toBe(0o044)
    expect(mode & 0o022, path).toBe(0)
  }
})

test('migrates, creates a key, serves requests, is healthy, and writes no file', async () => {
  const before = filesOf(app)
  const DATABASE_URL = await createTestDatabase('empty')
  const environment = { ...readEnvironment(final), DATABASE_URL }
  const owner = { ...environment, MIGRATION_DATABASE_URL: asOwner(DATABASE_URL) }

  // Like the entry point, run the executable itself. Its first line finds Node in the PATH.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const help = spawnSync(executable, ['--help'], { env: { PATH }, encoding: 'utf8' })
  expect(help).toMatchObject({ status: 0, stderr: '' })

  expect(await petstore(['migrate'], owner, executable)).toMatchObject({ code: 0 })
  const made = await petstore(['api-keys', 'create', '--name', 'web-shop'], environment, executable)
  expect(made.code).toBe(0)

  const service = await startService(environment, { executable })
  const [node = '', ...healthcheck] = readCommand(final, 'HEALTHCHECK')
  const isHealthy = () =>
    spawnSync(node, healthcheck, { env: { PATH, ADMIN_PORT: new URL(service.adminOrigin).port } }).status ===
    0
  expect(isHealthy()).toBe(true)
  const { port } = new URL(service.origin)
  const client = openTestClient({ origin: `http://127.0.0.1:${port}`, apiKey: made.stdout.trim() })
  expect((await client.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect(await client.get('/pets?limit=1')).toMatchObject({ status: 200, body: [{ name: 'Rex' }] })
  expect((await client.call('GET', '/openapi.json')).status).toBe(200)
  expect((await client.call('GET', '/')).text).toMatch(/<script type="module" [^>]*src="\/console\//)
  const [scalar = ''] = /\/docs\/assets\/scalar-[^"]+/.exec((await client.call('GET', '/docs')).text) ?? []
  expect((await client.call('GET', scalar)).text).toContain('createApiReference')
  expect(await service.stop()).toBe(0)
  expect(isHealthy()).toBe(false)
  expect(filesOf(app)).toEqual(before)
})
