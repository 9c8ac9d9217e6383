// Callers choose the URLs of webhooks. These tests check that no URL and no DNS response makes the sender connect to a
// blocked address. All addresses are those of this host: 127.0.0.2 has the role of a public receiver, and 127.0.0.1 that
// of an internal service, which must see no connection.
import {
  getDefaultAutoSelectFamily,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamily,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { resolveWith } from '../../src/events/delivery/connections.ts'
import type { Sender } from '../../src/events/delivery/sender.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { deliveryTo, openTestSender, type Receiver, startReceiver } from '../support/receivers.ts'

const PUBLIC = '127.0.0.2'
const INTERNAL = '127.0.0.1'
const BLOCKED = { kind: 'failure', reason: 'address_blocked', durationMs: expect.any(Number) }
const failure = (reason: string) => ({ ...BLOCKED, reason })
const OK = { kind: 'response', status: 200, durationMs: expect.any(Number) }

// Node tries the next address of a name after 250 ms, in which a busy host may not notice that one rejects the connection.
const attemptTimeoutBefore = getDefaultAutoSelectFamilyAttemptTimeout()
beforeAll(() => setDefaultAutoSelectFamilyAttemptTimeout(60_000))
afterAll(() => setDefaultAutoSelectFamilyAttemptTimeout(attemptTimeoutBefore))

let internal: Receiver
let receiver: Receiver
beforeAll(async () => {
  internal = await startReceiver((_request, reply) => reply.end())
  receiver = await startReceiver(
    // The connection is not reused, so each request needs a DNS query.
    (_request, reply) => reply.writeHead(200, { connection: 'close' }).end(),
    { host: PUBLIC, port: internal.port },
  )
})
beforeEach(() => {
  receiver.connections = 0
  return () => expect(internal.connections).toBe(0)
})

async function openWithDns(
  addressesOf: (name: string, earlier: number) => readonly string[] | undefined,
): Promise<{
  dns: DnsServer
  sender: Sender
  send: (name: string) => ReturnType<Sender['send']>
}> {
  const dns = await startDnsServer(addressesOf)
  onTestFinished(() => dns.stop())
  const lookup = (name: string) => resolveWith(dns.newResolver(), name)
  const sender = openTestSender({ allowedNetworks: [`${PUBLIC}/32`], lookup })
  const send = (name: string) =>
    sender.send(deliveryTo(internal, { url: `http://${name}:${internal.port}/` }))
  return { dns, sender, send }
}

test.each([
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '127%2e0%2e0%2e1',
  '①②⑦.0.0.1',
  '127.0.0.3',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
])('does not connect to the address %s, over HTTP or HTTPS', async (host) => {
  for (const allowedNetworks of [[], [PUBLIC]]) {
    const sender = openTestSender({ allowedNetworks })
    for (const protocol of ['http', 'https']) {
      const delivery = deliveryTo(internal, { url: `${protocol}://${host}:${internal.port}/` })
      expect(await sender.send(delivery)).toEqual(BLOCKED)
    }
  }
})

test.each(['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost'])(
  'does not connect to %s, which has fixed addresses',
  async (name) => {
    const url = `https://${name}:${internal.port}/`
    expect(await openTestSender({ allowedNetworks: [] }).send(deliveryTo(internal, { url }))).toEqual(BLOCKED)
  },
)

test('connects to localhost if the operator has allowed both of its addresses', async () => {
  const local = await startReceiver((_request, reply) => reply.end())
  const delivery = deliveryTo(local, { url: `http://localhost:${local.port}/` })
  expect(await openTestSender({ allowedNetworks: ['127.0.0.0/8', '::1'] }).send(delivery)).toEqual(OK)
  expect(await openTestSender({ allowedNetworks: ['127.0.0.0/8'] }).send(delivery)).toEqual(BLOCKED)
})

test.each([
  ['an IPv4 address', [INTERNAL]],
  ['an IPv6 address', ['::1']],
  ['an IPv4-mapped address', ['::ffff:127.0.0.1']],
  ['an unspecified address', ['0.0.0.0']],
  ['an unspecified IPv6 address', ['::']],
  ['a public and an internal address', [PUBLIC, INTERNAL]],
  ['an internal and a public address', [INTERNAL, PUBLIC]],
  ['a public IPv4 and an internal IPv6 address', [PUBLIC, '::1']],
  ['a public IPv4 and a mapped address', [PUBLIC, '::ffff:127.0.0.1']],
])('does not connect to a name that has %s', async (_kind, addresses) => {
  const { dns, send } = await openWithDns(() => addresses)
  expect(await send('attack.example')).toEqual(BLOCKED)
  expect(dns.queries.toSorted()).toEqual(['A attack.example', 'AAAA attack.example'])
  expect(receiver.connections).toBe(0)
})

test('connects to the address that it checked, even if the next DNS response is another one (DNS rebinding)', async () => {
  const { dns, send } = await openWithDns((_name, earlier) => [earlier === 0 ? PUBLIC : INTERNAL])
  expect(await send('rebinding.example')).toEqual(OK)
  // One query for each family: there is no second one that could return another address.
  expect(dns.queries.toSorted()).toEqual(['A rebinding.example', 'AAAA rebinding.example'])
  expect(await send('rebinding.example')).toEqual(BLOCKED)
  expect(dns.queries).toHaveLength(4)
  expect(receiver.connections).toBe(1)
})

test('each new connection is checked, in any order of DNS responses', async () => {
  const { send } = await openWithDns((_name, earlier) => [earlier % 2 === 0 ? PUBLIC : INTERNAL])
  for (let round = 0; round < 5; round += 1) {
    expect(await send('flapping.example')).toEqual(OK)
    expect(await send('flapping.example')).toEqual(BLOCKED)
  }
  expect(receiver.connections).toBe(5)
})

test('a name is checked in the same way if Node tries only one address of a host', async () => {
  const before = getDefaultAutoSelectFamily()
  setDefaultAutoSelectFamily(false)
  onTestFinished(() => setDefaultAutoSelectFamily(before))
  const { send } = await openWithDns((name) => (name.startsWith('good') ? [PUBLIC] : [PUBLIC, INTERNAL]))
  expect(await send('good.example')).toEqual(OK)
  expect(await send('bad.example')).toEqual(BLOCKED)
})

test('tries the next address if one rejects the connection, but at most four addresses', async () => {
  const silent = ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']
  const dns = await startDnsServer((name) => [...silent.slice(name.startsWith('four') ? 1 : 0), PUBLIC])
  onTestFinished(() => dns.stop())
  const lookup = (name: string) => resolveWith(dns.newResolver(), name)
  const sender = openTestSender({ allowedNetworks: [PUBLIC, ...silent], lookup })
  const send = (name: string) =>
    sender.send(deliveryTo(internal, { url: `http://${name}:${internal.port}/` }))
  expect(await send('four.example')).toEqual(OK)
  expect(await send('five.example')).toEqual(failure('connection_refused'))
  expect(receiver.connections).toBe(1)
})

test('the mapped form of an allowed address is blocked', async () => {
  const { send } = await openWithDns(() => ['::ffff:127.0.0.2'])
  expect(await send('mapped.example')).toEqual(BLOCKED)
  expect(receiver.connections).toBe(0)
})

test('an unknown name, a name without addresses and a failed lookup are dns_failed', async () => {
  const { send } = await openWithDns((name) => (name === 'empty.example' ? [] : undefined))
  expect(await send('unknown.example')).toEqual(failure('dns_failed'))
  expect(await send('empty.example')).toEqual(failure('dns_failed'))
  const broken = openTestSender({ lookup: () => Promise.reject(new Error('ECONNREFUSED 10.0.0.53:53')) })
  const delivery = deliveryTo(internal, { url: 'http://shop.example/' })
  expect(await broken.send(delivery)).toEqual(failure('dns_failed'))
})

test('a DNS server that does not respond causes a timeout, and other names are not affected', async () => {
  const { dns, send } = await openWithDns(() => [PUBLIC])
  const lookup = (name: string) =>
    name.startsWith('stuck') ? new Promise<never>(() => {}) : resolveWith(dns.newResolver(), name)
  const sender = openTestSender({ allowedNetworks: [PUBLIC], lookup })
  const stuck = Array.from({ length: 20 }, (_, index) =>
    sender.send(deliveryTo(internal, { url: `http://stuck-${index}.example/`, timeoutMs: 300 })),
  )
  const url = `http://shop.example:${internal.port}/`
  expect(await sender.send(deliveryTo(internal, { url }))).toEqual(OK)
  expect(await send('shop.example')).toEqual(OK)
  expect(await Promise.all(stuck)).toEqual(Array(20).fill(failure('timeout')))
})

afterAll(() => expect(internal.connections).toBe(0))
