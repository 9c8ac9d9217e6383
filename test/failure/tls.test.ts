// TLS to PostgreSQL, chosen by the URL as with psql.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { embeddedBinaries, freePort, startCluster } from '../../dev/cluster.ts'
import { openClient } from '../../src/db/pool.ts'
import { petstore } from '../support/service.ts'

const folder = mkdtempSync('/var/tmp/petstore-test-')
const dataFolder = `/var/tmp/petstore-test-${randomUUID()}`
chmodSync(folder, 0o755)

function makeCertificate(name: string): void {
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      key,
      '-out',
      certificate,
    ],
    { stdio: 'ignore' },
  )
}
makeCertificate('server')
makeCertificate('stranger')

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()
const options = { binaries, dataFolder, port: await freePort() }
// Once without TLS, to learn as whom the server runs: the key must belong to it.
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

test('sslmode=prefer encrypts, and does not fall back to an unencrypted connection as psql does', async () => {
  expect(await isEncrypted('127.0.0.1', '?sslmode=prefer')).toBe(true)
  // The server of the other tests has no TLS.
  const client = openClient(`${inject('serverUrl')}?sslmode=prefer`, 'petstore-test')
  await expect(client.connect()).rejects.toThrow('does not support SSL')
})

test('sslmode=require encrypts, whoever the server is', async () => {
  expect(await isEncrypted('127.0.0.1', '?sslmode=require')).toBe(true)
})

test('sslmode=verify-full with the right root encrypts; with another root, name or none it refuses', async () => {
  const root = (name: string) => `?sslmode=verify-full&sslrootcert=${join(folder, `${name}.crt`)}`
  expect(await isEncrypted('localhost', root('server'))).toBe(true)
  await expect(isEncrypted('localhost', root('stranger'))).rejects.toThrow()
  await expect(isEncrypted('127.0.0.1', root('server'))).rejects.toThrow()
  await expect(isEncrypted('localhost', '?sslmode=verify-full')).rejects.toThrow()
})

test('sslmode=verify-ca looks at the root and not at the name', async () => {
  const root = (name: string) => `?sslmode=verify-ca&sslrootcert=${join(folder, `${name}.crt`)}`
  expect(await isEncrypted('127.0.0.1', root('server'))).toBe(true)
  await expect(isEncrypted('127.0.0.1', root('stranger'))).rejects.toThrow()
})

/** What the doctor says of the encryption of each connection. */
async function encryptionOf(environment: Record<string, string>): Promise<object | undefined> {
  const { stdout } = await petstore(['doctor', '--json'], environment)
  return (JSON.parse(stdout) as { check: string }[]).find(({ check }) => check === 'encryption')
}

// The system connects 0.0.0.0 to this host, and the doctor knows it for no address of the loopback interface.
test('the doctor warns of an unencrypted connection to another host, by the name of the variable', async () => {
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
