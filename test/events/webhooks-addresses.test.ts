// Which addresses webhooks can be sent to.
import { expect, test } from 'vitest'
import { addressRule, isPublicAddress } from '../../src/events/webhooks/addresses.ts'

const BLOCKED: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.0.0.2', '127.255.255.255', '::1'],
  unspecified: ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'],
  'unique-local': ['fc00::1', 'fd00::1', 'fdff:ffff::1'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  'IPv4-mapped': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:a00:1',
    '::FFFF:10.0.0.1',
  ],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::a00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:7f00:1'],
  NAT64: [
    '64:ff9b::7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::a00:1',
    '64:ff9b:1:ffff::1',
  ],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1', '192.88.99.1'],
  Teredo: ['2001::1', '2001:0:7f00:1::1', '2001:0:ffff:ffff::'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  broadcast: ['255.255.255.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  reserved: ['240.0.0.1', '255.255.255.254'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001:1::1', '2001:1ff::1'],
  ORCHID: ['2001:10::1', '2001:20::1', '2001:2f:ffff::1'],
  'AS112 and multicast tunnels': ['192.175.48.1', '192.31.196.1', '192.52.193.1', '2620:4f:8000::1'],
  'discard-only': ['100::', '100::1', '100:0:0:1::1'],
  'site-local': ['fec0::1', 'feff::1'],
  'segment routing': ['5f00::1'],
  'outside the public IPv6 range': ['1::1', '1fff::1', '4000::1', 'a000::1', 'e000::1'],
  'with a zone': ['fe80::1%eth0', 'fe80::1%1', '::1%lo', '2606:4700::1111%eth0'],
  'no address': [
    '',
    'localhost',
    'example.com',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '8.8.8.8:80',
    '[::1]',
    ' 8.8.8.8',
    '8.8.8.8/32',
    '1.2.3.4.5',
    '::1::',
    '08.8.8.8',
  ],
}

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700:4700::1111',
  '2A00:1450:4001:80B::200E',
]

const publicOnly = addressRule([])

test.each(Object.entries(BLOCKED))(
  'blocks addresses that are %s, over HTTPS and HTTP',
  (_kind, addresses) => {
    for (const address of addresses) {
      expect(isPublicAddress(address), address).toBe(false)
      expect(publicOnly.allows(address, 'https:'), address).toBe(false)
      expect(publicOnly.allows(address, 'http:'), address).toBe(false)
    }
  },
)

test('the table of blocked addresses has more than 100 entries', () => {
  expect(new Set(Object.values(BLOCKED).flat()).size).toBeGreaterThan(100)
})

test.each(PUBLIC)('allows the public address %s over HTTPS only', (address) => {
  expect(isPublicAddress(address)).toBe(true)
  expect(publicOnly.allows(address, 'https:')).toBe(true)
  expect(publicOnly.allows(address, 'http:')).toBe(false)
  expect(publicOnly.allows(address, 'ftp:')).toBe(false)
})

test('allows the addresses of allowed networks over HTTPS and HTTP, and no others', () => {
  const rule = addressRule(['10.0.0.0/8', '127.0.0.1', '172.16.5.1/32', 'fd00:1::/32', '::1', '8.8.8.0/24'])
  const allowed = [
    '10.0.0.1',
    '10.255.255.255',
    '127.0.0.1',
    '172.16.5.1',
    'fd00:1::7',
    '::1',
    '0:0:0:0:0:0:0:1',
    '8.8.8.8',
  ]
  for (const address of allowed) {
    expect(rule.allows(address, 'https:'), address).toBe(true)
    expect(rule.allows(address, 'http:'), address).toBe(true)
    expect(rule.allows(address, 'ftp:'), address).toBe(false)
  }
  for (const address of [
    '11.0.0.1',
    '127.0.0.2',
    '172.16.5.2',
    '169.254.169.254',
    'fd00:2::7',
    '::2',
    '::',
  ]) {
    expect(rule.allows(address, 'http:'), address).toBe(false)
  }
  expect(rule.allows('11.0.0.1', 'https:')).toBe(true)
})

test('other forms of an allowed address stay blocked', () => {
  const rule = addressRule(['127.0.0.0/8', '10.0.0.0/8', '::1', '::ffff:0:0/96', '::/1'])
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a00:1',
    '::127.0.0.1',
    '::1%lo',
    '127.1',
  ]) {
    expect(rule.allows(address, 'https:'), address).toBe(false)
  }
  // 6to4 and NAT64 addresses of an allowed IPv4 address belong to no allowed network.
  const ipv4Only = addressRule(['127.0.0.0/8'])
  for (const address of ['2002:7f00:1::1', '64:ff9b::7f00:1', '::1', '::7f00:1']) {
    expect(ipv4Only.allows(address, 'https:'), address).toBe(false)
  }
})

test('http: is allowed only if the operator has allowed networks', () => {
  expect(publicOnly.allowsHttp).toBe(false)
  expect(addressRule(['127.0.0.1']).allowsHttp).toBe(true)
})

test.each([
  '',
  'localhost',
  '10.0.0.0/33',
  '0.0.0.0/0',
  '::/0',
  '::1%lo/128',
  '10.0.0.0/8/8',
  '10.1/16',
  '010.0.0.0/8',
])('rejects "%s" as an allowed network', (text) => {
  expect(() => addressRule([text])).toThrow(RangeError)
})
