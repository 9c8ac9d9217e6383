// `petstore doctor --patroni` with an HTTP server that returns what Patroni returns.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { makeCertificate } from '../../lab/parts/certificate.ts'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { runInProcess } from '../support/in-process.ts'

const DATABASE_URL = await createTestDatabase()

/** A cluster of three nodes, in the form that Patroni 4.0.7 returns. Fields that vary are left out. */
const STATUS = {
  state: 'running',
  role: 'primary',
  server_version: 170012,
  timeline: 1,
  replication: [{ usename: 'replicator', application_name: 'n2', state: 'streaming', sync_state: 'quorum' }],
  patroni: { version: '4.0.7', scope: 'petstore', name: 'n1' },
}
const CLUSTER = {
  members: [
    { name: 'n1', role: 'leader', state: 'running', host: '10.0.0.11', port: 5432, timeline: 1 },
    { name: 'n2', role: 'quorum_standby', state: 'streaming', host: '10.0.0.12', port: 5432, lag: 0 },
    { name: 'n3', role: 'quorum_standby', state: 'streaming', host: '10.0.0.13', port: 5432, lag: 0 },
  ],
  scope: 'petstore',
}
const CONFIG = { ttl: 20, loop_wait: 5, synchronous_mode: 'quorum', synchronous_mode_strict: true }

// A Patroni that responds late on a busy host is not unreachable.
beforeEach(() => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  return () => timeout.mockRestore()
})

type Body = Record<string, unknown>

/** A value of undefined makes the server never respond. */
async function startPatroni(bodies: Record<string, Body | undefined>): Promise<string> {
  const { origin, close } = await openLocalServer(({ url = '' }, response) => {
    if (!(url in bodies)) response.writeHead(502).end()
    else if (bodies[url] !== undefined)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(bodies[url]))
  })
  onTestFinished(close)
  return origin
}

async function examine(address: string, url = DATABASE_URL) {
  const { code, stdout } = await runInProcess(['doctor', '--json', '--patroni', address], {
    DATABASE_URL: url,
  })
  const found = JSON.parse(stdout) as { check: string; state: string; message: string; remedy?: string }[]
  const { check, ...finding } = found.at(-1) ?? { check: '' }
  expect(check).toBe('patroni')
  return { code, ...finding }
}

const examineWith = async ({
  version = '4.0.7',
  cluster = {},
  config = {},
}: {
  version?: string
  cluster?: Body
  config?: Body
}) =>
  examine(
    await startPatroni({
      '/patroni': { ...STATUS, patroni: { ...STATUS.patroni, version } },
      '/cluster': { ...CLUSTER, ...cluster },
      '/config': { ...CONFIG, ...config },
    }),
  )

test.each(['3.0.3', '3.1.0', '4.0.7'])(
  'accepts Patroni %s with strict synchronous replication',
  async (version) => {
    expect(await examineWith({ version })).toEqual({
      code: 0,
      state: 'ok',
      message: `Patroni ${version}: the leader is n1, 2 of 2 standbys are synchronous`,
    })
  },
)

test.each(['3.0.2', '2.1.7', '3.0'])('rejects Patroni %s', async (version) => {
  expect(await examineWith({ version })).toEqual({
    code: 1,
    state: 'fault',
    message: `Patroni ${version} is too old: with etcd3, a failover can lose acknowledged writes`,
    remedy: 'Upgrade Patroni to 3.0.3 or newer on all nodes; 4.0 or newer has synchronous_mode: quorum.',
  })
})

test.each([
  [
    { synchronous_mode: undefined },
    'synchronous_mode is off',
    'synchronous_mode=quorum -s synchronous_mode_strict=true',
  ],
  [
    { synchronous_mode: 'off' },
    'synchronous_mode is off',
    'synchronous_mode=quorum -s synchronous_mode_strict=true',
  ],
  [{ synchronous_mode_strict: false }, 'synchronous_mode_strict is off', 'synchronous_mode_strict=true'],
])('warns about the settings %o', async (config, message, setting) => {
  expect(await examineWith({ config })).toMatchObject({
    code: 0,
    state: 'warning',
    message: expect.stringContaining(message),
    remedy: `Run: patronictl edit-config -s ${setting}`,
  })
})

test('warns about a paused cluster, and reports a cluster without a leader', async () => {
  expect(await examineWith({ cluster: { pause: true } })).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('the cluster is paused, so there is no failover'),
    remedy: 'Run: patronictl resume',
  })
  const config = { synchronous_mode_strict: false }
  expect(await examineWith({ cluster: { pause: true }, config })).toMatchObject({
    remedy: 'Run: patronictl edit-config -s synchronous_mode_strict=true; patronictl resume',
  })
  expect(await examineWith({ cluster: { members: [] } })).toMatchObject({
    code: 1,
    state: 'fault',
    message: 'Patroni 4.0.7: the cluster has no leader',
  })
})

test('warns if no standby is synchronous', async () => {
  const members = CLUSTER.members.map((member) =>
    member.role === 'leader' ? member : { ...member, role: 'replica', state: 'stopped', lag: 'unknown' },
  )
  expect(await examineWith({ cluster: { members } })).toEqual({
    code: 0,
    state: 'warning',
    message:
      'Patroni 4.0.7: the leader is n1, 0 of 2 standbys are synchronous; no standby is synchronous, so writes wait and a failover is not possible',
    remedy: 'Run: patronictl list',
  })
})

test('reports an address that is unreachable, never responds, or is not Patroni', async () => {
  const expected = { code: 1, state: 'fault', remedy: expect.stringContaining('--patroni') }
  expect(await examine('http://127.0.0.1:1')).toMatchObject({
    ...expected,
    message: expect.stringMatching(
      /^http:\/\/127\.0\.0\.1:1 did not return the state of Patroni: .*(ECONNREFUSED|bad port)/,
    ),
  })
  expect(await examine(await startPatroni({}))).toMatchObject({
    ...expected,
    message: expect.stringMatching(/\/\w+ returned 502$/),
  })
  expect(await examine(await startPatroni({ '/patroni': {}, '/cluster': {}, '/config': {} }))).toMatchObject({
    ...expected,
    message: expect.stringContaining('/patroni returned no version'),
  })
  vi.restoreAllMocks()
  expect(
    await examine(await startPatroni({ '/patroni': undefined, '/cluster': CLUSTER, '/config': CONFIG })),
  ).toMatchObject({ ...expected, message: expect.stringContaining('timeout') })
})

test('checks Patroni even if the database is unreachable', async () => {
  const address = await startPatroni({ '/patroni': STATUS, '/cluster': CLUSTER, '/config': CONFIG })
  expect(await examine(address, 'postgres://petstore@127.0.0.1:1/none')).toMatchObject({
    code: 1,
    state: 'ok',
  })
})

test('rejects an address that is not a URL', async () => {
  const { code, stderr } = await runInProcess(['doctor', '--patroni', '10.0.0.11:8008'], { DATABASE_URL })
  expect(code).toBe(1)
  expect(stderr).toContain('http://10.0.0.11:8008')
})

test('says how to trust the CA of the cluster', async () => {
  const certificate = makeCertificate(['IP:127.0.0.1'])
  const { origin, close } = await openLocalServer(() => {}, { certificate })
  onTestFinished(close)
  expect(await examine(origin)).toMatchObject({
    code: 1,
    state: 'fault',
    message: expect.stringContaining('self-signed certificate'),
    remedy: expect.stringContaining('set NODE_EXTRA_CA_CERTS to the file of that CA'),
  })
})
