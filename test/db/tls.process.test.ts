// TLS to PostgreSQL, chosen by sslmode in the URL.
import { randomUUID, X509Certificate } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject, onTestFinished, test, vi } from 'vitest'
import { makeCertificate } from '../../lab/parts/certificate.ts'
import { embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { openClient } from '../../src/db/connection/pool.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { runInProcess } from '../support/in-process.ts'
import { petstore } from '../support/service.ts'

const folder = mkdtempSync('/var/tmp/petstore-test-')
const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
chmodSync(folder, 0o755)

for (const name of ['server', 'stranger']) {
  const { key, cert } = makeCertificate(['DNS:localhost'])
  // PostgreSQL accepts only a key that no other user can read.
  writeFileSync(join(folder, `${name}.key`), key, { mode: 0o600 })
  writeFileSync(join(folder, `${name}.crt`), cert)
}

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
const options = { binaries, dataFolder, port: await freePort() }
// Start once without TLS to find the user of the server, which must own the key file.
await (await startCluster(options)).stop()
const { uid, gid } = statSync(dataFolder)
chownSync(join(folder, 'server.key'), uid, gid)
const cluster = await startCluster({
  ...options,
  settings: {
    ssl: 'on',
    ssl_cert_file: join(folder, 'server.crt'),
    ssl_key_file: join(folder, 'server.key'),
    listen_addresses: 'localhost',
  },
})
afterAll(async () => {
  await cluster.stop()
  for (const path of [folder, dataFolder]) rmSync(path, { recursive: true, force: true })
})

async function isEncrypted(host: string, parameters: string): Promise<boolean> {
  const client = openClient(
    `postgres://postgres@${host}:${cluster.port}/postgres${parameters}`,
    'petstore-test',
  )
  try {
    await client.connect()
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
    return rows[0].ssl
  } finally {
    await client.end()
  }
}

test('without sslmode, and with sslmode=disable, the connection is not encrypted', async () => {
  expect(await isEncrypted('localhost', '')).toBe(false)
  expect(await isEncrypted('localhost', '?sslmode=disable')).toBe(false)
})

test('sslmode=prefer encrypts, and does not fall back to an unencrypted connection (unlike psql)', async () => {
  expect(await isEncrypted('127.0.0.1', '?sslmode=prefer')).toBe(true)
  // The server of the other tests has no TLS.
  const client = openClient(`${inject('serverUrl')}?sslmode=prefer`, 'petstore-test')
  await expect(client.connect()).rejects.toThrow('does not support SSL')
})

test('sslmode=require encrypts without verifying the certificate', async () => {
  expect(await isEncrypted('127.0.0.1', '?sslmode=require')).toBe(true)
})

test('sslmode=verify-full encrypts; it fails with another root, without a root, or with another host name', async () => {
  const root = (name: string) => `?sslmode=verify-full&sslrootcert=${join(folder, `${name}.crt`)}`
  expect(await isEncrypted('localhost', root('server'))).toBe(true)
  await expect(isEncrypted('localhost', root('stranger'))).rejects.toThrow()
  await expect(isEncrypted('127.0.0.1', root('server'))).rejects.toThrow()
  await expect(isEncrypted('localhost', '?sslmode=verify-full')).rejects.toThrow()
})

test('sslmode=verify-ca verifies the root but not the host name', async () => {
  const root = (name: string) => `?sslmode=verify-ca&sslrootcert=${join(folder, `${name}.crt`)}`
  expect(await isEncrypted('127.0.0.1', root('server'))).toBe(true)
  await expect(isEncrypted('127.0.0.1', root('stranger'))).rejects.toThrow()
})

/** The result of the doctor's encryption check. */
async function encryptionOf(environment: Record<string, string>): Promise<object | undefined> {
  const { stdout } = await petstore(['doctor', '--json'], environment)
  return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'encryption')
}

// 0.0.0.0 connects to this host, but the doctor does not treat it as a loopback address.
test('the doctor warns about an unencrypted connection to another host, and names the variable', async () => {
  const urlOf = (host: string, parameters = '') =>
    `postgres://postgres@${host}:${cluster.port}/postgres${parameters}`
  const ok = { state: 'ok' }
  expect(await encryptionOf({ DATABASE_URL: urlOf('localhost') })).toMatchObject(ok)
  expect(await encryptionOf({ DATABASE_URL: urlOf('0.0.0.0', '?sslmode=require') })).toMatchObject(ok)
  expect(await encryptionOf({ DATABASE_URL: urlOf('0.0.0.0') })).toMatchObject({
    state: 'warning',
    message: 'DATABASE_URL connects to 0.0.0.0 without encryption',
    remedy: expect.stringContaining('sslmode=verify-full'),
  })
  const both = { DATABASE_URL: urlOf('127.0.0.1'), MIGRATION_DATABASE_URL: urlOf('db.example') }
  expect(await encryptionOf(both)).toMatchObject({
    state: 'warning',
    message: 'MIGRATION_DATABASE_URL connects to db.example without encryption',
  })
})

test('the database reports when the certificate of PostgreSQL ends, and nothing without TLS', async () => {
  async function certificateEnds(parameters: string): Promise<Date[]> {
    const ends: Date[] = []
    const db = openDatabase({
      databaseUrl: `postgres://postgres@localhost:${cluster.port}/postgres${parameters}`,
      applicationName: 'petstore-test',
      size: 1,
      onError: () => {},
      observer: {
        onWait: () => {},
        onQuery: () => {},
        onCertificate: (end) => ends.push(end),
        onHostFailure: () => {},
      },
    })
    await db.read({ name: 'one', text: 'select 1', values: [] })
    await db.close()
    return ends
  }
  const { validToDate } = new X509Certificate(readFileSync(join(folder, 'server.crt')))
  expect(await certificateEnds('?sslmode=require')).toEqual([validToDate])
  expect(await certificateEnds('')).toEqual([])
})

test('the doctor warns 21 days before the certificate of PostgreSQL expires, and says nothing without TLS', async () => {
  onTestFinished(() => void vi.useRealTimers())
  const { validToDate } = new X509Certificate(readFileSync(join(folder, 'server.crt')))
  const findAt = async (daysLeft: number, parameters = '?sslmode=require') => {
    vi.useFakeTimers({ toFake: ['Date'], now: validToDate.getTime() - daysLeft * 86_400_000 })
    const DATABASE_URL = `postgres://postgres@localhost:${cluster.port}/postgres${parameters}`
    const { stdout } = await runInProcess(['doctor', '--json'], { DATABASE_URL })
    return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'certificate')
  }
  expect(await findAt(21.1)).toMatchObject({ state: 'ok' })
  expect(await findAt(20.9)).toMatchObject({
    state: 'warning',
    message: 'the certificate of PostgreSQL expires in 20 days',
    remedy: expect.stringContaining('See "The certificate of PostgreSQL expires" in docs/runbook.md.'),
  })
  expect(await findAt(20.9, '')).toBeUndefined()
})
