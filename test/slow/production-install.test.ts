// Installs Petstore as an operator does on a bare host: the tracked files, `npm ci` without dev dependencies and
// install scripts, and the commands of docs/production.md.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSbom } from '../../dev/sbom.ts'
import { openTestClient } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { asOwner } from '../support/roles.ts'
import { petstore, startService } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'petstore-production-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const executable = join(folder, 'bin/petstore.ts')

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
for (const path of tracked.filter((name) => name !== '')) cpSync(join(ROOT, path), join(folder, path))
execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline'], {
  cwd: folder,
  stdio: 'ignore',
})

test('the SBOM lists exactly the installed packages', () => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; link?: boolean }>
  }
  const fromRegistry = Object.entries(packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  )
  const installed = fromRegistry.map(
    ([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`,
  )
  console.log(`${installed.length} packages installed for production`)
  const named = readSbom().components.map(({ name, version }) => `${name}@${version}`)
  expect([...new Set(named)].toSorted()).toEqual([...new Set(installed)].toSorted())
})

test('migrates, creates a key and serves requests if installed without dev dependencies and scripts', async () => {
  const DATABASE_URL = await createTestDatabase('empty')
  const environment = { DATABASE_URL, MIGRATION_DATABASE_URL: asOwner(DATABASE_URL) }
  const run = (...args: string[]) => petstore(args, environment, executable)

  const help = await run('--help')
  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain('Usage: petstore')
  expect(await run('migrate')).toMatchObject({ code: 0 })
  const made = await run('api-keys', 'create', '--name', 'web-shop')
  expect(made.code).toBe(0)
  const service = await startService(environment, { executable })
  const client = openTestClient({ origin: service.origin, apiKey: made.stdout.trim() })
  const { body } = await client.post('/pets', { name: 'Rex', categoryId: 1 })
  const pet = body as { id: number }
  expect(await client.get(`/pets/${pet.id}`)).toMatchObject({ status: 200, body: { name: 'Rex' } })
  expect(await service.stop()).toBe(0)
  expect(await run('doctor')).toMatchObject({ code: 0 })
})
