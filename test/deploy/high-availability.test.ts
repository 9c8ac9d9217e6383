// The files of deploy/ha: the two scripts write complete and private files, and the limits fit those of the service.
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const HA = join(ROOT, 'deploy/ha')
const NODES = ['pg1', 'pg2', 'pg3']
const PASSWORD = 'a-password-for-the-test'
const EXAMPLE = readFileSync(join(HA, 'cluster.env.example'), 'utf8')
const FILLED_IN = EXAMPLE.replaceAll(/^(\w+_PASSWORD)=$/gm, `$1=${PASSWORD}`)
/** Root would need the groups of the Debian packages. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder with cluster.env, in which the scripts can write. */
function createCluster(values: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-ha-'))
  folders.push(folder)
  writeFileSync(join(folder, 'cluster.env'), values)
  if (NOBODY.uid) chownSync(folder, NOBODY.uid, NOBODY.gid)
  return folder
}

function run(script: 'make-certificates' | 'configure', folder: string, ...args: string[]) {
  const path = join(HA, script)
  return spawnSync('sh', [path, '--env', join(folder, 'cluster.env'), ...args], {
    encoding: 'utf8',
    ...NOBODY,
  })
}

const prepared = createCluster(FILLED_IN)
const made = run('make-certificates', prepared)

function configure(host: string, folder = prepared) {
  const files = join(folder, host)
  const result = run('configure', folder, host, files)
  const read = (name: string) => readFileSync(join(files, name), 'utf8')
  return { ...result, files, read }
}

const templates = readdirSync(HA).filter((name) => /\.(yml|cfg)$/.test(name))
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('make-certificates', () => {
  const certificates = join(prepared, 'certificates')
  const certificateOf = (name: string) => new X509Certificate(readFileSync(join(certificates, `${name}.pem`)))

  test('signs a certificate for each node, with its name and address and those that clients use', () => {
    expect(made.stderr).toBe('')
    for (const [index, node] of NODES.entries()) {
      const certificate = certificateOf(node)
      expect(certificate.verify(certificateOf('ca').publicKey)).toBe(true)
      expect(certificate.checkHost(node)).toBe(node)
      expect(certificate.checkHost('localhost')).toBe('localhost')
      expect(certificate.checkIP(`10.0.0.${11 + index}`)).toBeDefined()
      expect(certificate.checkIP('127.0.0.1')).toBeDefined()
      expect(certificate.checkHost('pg9')).toBeUndefined()
    }
  })

  test('adds CLIENT_NAMES to the certificates', () => {
    const folder = createCluster(FILLED_IN.replace('CLIENT_NAMES=', 'CLIENT_NAMES="db.example 10.0.1.7"'))
    expect(run('make-certificates', folder, 'pg2').status).toBe(0)
    expect(readdirSync(join(folder, 'certificates')).toSorted()).toEqual([
      'ca.key',
      'ca.pem',
      'pg2.key',
      'pg2.pem',
    ])
    const certificate = new X509Certificate(readFileSync(join(folder, 'certificates/pg2.pem')))
    expect(certificate.checkHost('db.example')).toBe('db.example')
    expect(certificate.checkIP('10.0.1.7')).toBeDefined()
  })

  test('keeps the keys private, and replaces certificates only with --renew', () => {
    for (const name of ['ca', ...NODES]) expect(modeOf(join(certificates, `${name}.key`))).toBe('600')
    const before = certificateOf('pg3').serialNumber
    expect(run('make-certificates', prepared, 'pg3')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Use --renew'),
    })
    expect(run('make-certificates', prepared, '--renew', 'pg3').status).toBe(0)
    expect(certificateOf('pg3').serialNumber).not.toBe(before)
    expect(certificateOf('pg3').verify(certificateOf('ca').publicKey)).toBe(true)
  })
})

describe('configure', () => {
  test.each([
    ['pg1', { 'etcd.yml': '644', 'patroni.yml': '640', 'etcd.key': '640', 'postgres.key': '640' }],
    ['haproxy', { 'postgres-haproxy.cfg': '644' }],
  ])('writes all files of the host %s, without placeholders', (host, modes) => {
    const { stderr, files, read } = configure(host)
    expect(stderr).toBe('')
    const others = host === 'pg1' ? ['ca.pem', 'node.pem'] : ['ca.pem']
    expect(readdirSync(files).toSorted()).toEqual([...Object.keys(modes), ...others].toSorted())
    for (const [name, mode] of Object.entries(modes)) {
      expect(modeOf(join(files, name)), name).toBe(mode)
      expect(read(name), name).not.toContain('${')
      if (read(name).includes(PASSWORD)) expect(mode, name).toBe('640')
    }
  })

  test('reports every missing and malformed value, and writes nothing', () => {
    const values = FILLED_IN.replace(/^SUPERUSER_PASSWORD=.*/m, 'SUPERUSER_PASSWORD="it\'s: #1"')
      .replace(/^NODE3_ADDRESS=.*\n/m, '')
      .replace(/^CLIENT_SUBNET=.*/m, 'CLIENT_SUBNET=')
    const first = configure('pg1', createCluster(values))
    expect(first.status).toBe(1)
    expect(first.stderr).toContain('NODE3_ADDRESS is empty: use an IPv4 address')
    const second = configure(
      'pg1',
      createCluster(values.replace(/^NODE2/m, 'NODE3_ADDRESS=10.0.0.13\nNODE2')),
    )
    expect(second.status).toBe(1)
    expect(second.stderr).toContain('SUPERUSER_PASSWORD is not valid')
    expect(second.stderr).toContain('CLIENT_SUBNET is empty')
    expect(existsSync(second.files)).toBe(false)
  })

  test('rejects an unknown node, and a node without its certificate', () => {
    expect(configure('pg9').stderr).toContain('has no node pg9')
    const folder = createCluster(FILLED_IN)
    mkdirSync(join(folder, 'certificates'))
    expect(configure('pg1', folder).stderr).toContain('ca.pem is missing')
  })

  test('makes etcd join an existing cluster only with --join', () => {
    expect(configure('pg2').read('etcd.yml')).toContain('\ninitial-cluster-state: new\n')
    const files = join(prepared, 'joined')
    expect(run('configure', prepared, '--join', 'pg2', files).status).toBe(0)
    expect(readFileSync(join(files, 'etcd.yml'), 'utf8')).toContain('\ninitial-cluster-state: existing\n')
  })

  test('uses every value of cluster.env.example', () => {
    const used = templates.map((name) => readFileSync(join(HA, name), 'utf8')).join('')
    const names = [...EXAMPLE.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)
    expect(names.filter((name) => name !== 'CLIENT_NAMES' && !used.includes(`\${${name}}`))).toEqual([])
  })
})

describe('patroni.yml', () => {
  const patroni = configure('pg1').read('patroni.yml')
  const hba = [...patroni.matchAll(/^ {4}- ((?:local|hostssl|host|hostnossl) .*)$/gm)].map(
    ([, line = '']) => line,
  )
  const number = (name: string) => Number(new RegExp(`^ +${name}: (\\d+)$`, 'm').exec(patroni)?.[1])

  test('keeps acknowledged writes: commits wait for a standby, and never stop waiting', () => {
    expect(patroni).toMatch(/^ {4}synchronous_mode: quorum$/m)
    expect(patroni).toMatch(/^ {4}synchronous_mode_strict: true$/m)
    expect(patroni).not.toMatch(/synchronous_commit|fsync|full_page_writes/)
  })

  test('has times that Patroni accepts', () => {
    expect(number('ttl')).toBeGreaterThanOrEqual(20)
    expect(number('loop_wait') + 2 * number('retry_timeout')).toBeLessThanOrEqual(number('ttl'))
    // HAProxy must close the connections to an old primary before another node can become the primary.
    const [, inter, fall] =
      /inter (\d+)s fall (\d+)/.exec(configure('haproxy').read('postgres-haproxy.cfg')) ?? []
    expect(Number(inter) * (Number(fall) + 1)).toBeLessThan(number('ttl') / 2)
  })

  test('accepts only encrypted connections with a password, except from the local superuser', () => {
    expect(hba[0]).toBe('local all postgres peer')
    expect(hba.length).toBeGreaterThan(5)
    expect(hba.slice(1).filter((line) => !/^hostssl .* scram-sha-256$/.test(line))).toEqual([])
    const fromNodes = hba.filter((line) => / (replicator|rewind) /.test(line))
    expect(fromNodes.map((line) => / (\S+) scram/.exec(line)?.[1] ?? '').toSorted()).toEqual(
      [1, 1, 2, 2, 3, 3].map((node) => `10.0.0.1${node}/32`),
    )
  })

  const roles = readFileSync(join(ROOT, 'deploy/roles.sql'), 'utf8')

  test('lets every role of deploy/roles.sql connect to the database of Petstore', () => {
    const names = [...roles.matchAll(/create role (\w+)/g)].map(([, name = '']) => name)
    const [, listed = ''] = /^hostssl petstore (\S+) /.exec(hba.at(-1) ?? '') ?? []
    expect(listed.split(',').toSorted()).toEqual(names.toSorted())
  })

  test('accepts more connections than the roles together', () => {
    const limits = [...roles.matchAll(/create role \w+ login connection limit (\d+)/g)].map(([, limit]) =>
      Number(limit),
    )
    expect(limits.length).toBe(3)
    const ofRoles = limits.reduce((sum, limit) => sum + limit)
    // Migrations, the superuser and Patroni need a few more.
    expect(number('max_connections')).toBeGreaterThanOrEqual(ofRoles + 20)
  })
})
