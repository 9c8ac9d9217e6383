// The URLs that callers can set for webhooks.
import { expect, test } from 'vitest'
import { addressRule } from '../../src/events/webhooks/addresses.ts'
import { URL_LENGTH_MAX } from '../../src/events/webhooks/rules.ts'
import { urlFault } from '../../src/events/webhooks/url.ts'

const publicOnly = addressRule([])
const withLoopback = addressRule(['127.0.0.0/8', '::1'])
const PRIVATE_ADDRESS =
  'must not contain a private or reserved IP address; use the public name of the receiver.'
const LOCAL_NAME = 'must not contain a local host name; use the public name of the receiver.'
const NOT_ABSOLUTE = 'must be an absolute https: URL, such as https://shop.example/webhooks.'

test.each([
  'https://shop.example/webhooks',
  'https://shop.example',
  'HTTPS://Shop.Example:8443/a/b?c=d&e=%20@x',
  'https://shop.example./hook',
  'https://a.b.c.shop.example/@user/hook',
  'https://xn--mnchen-3ya.example/',
  'https://münchen.example/',
  'https://8.8.8.8/hook',
  'https://[2606:4700:4700::1111]:444/hook',
  'https://internal.example/',
  'https://local.example/',
  `https://shop.example/${'a'.repeat(URL_LENGTH_MAX - 21)}`,
])('accepts %s', (text) => {
  expect(urlFault(text, publicOnly)).toBeUndefined()
})

test.each([
  '',
  'shop.example',
  '/webhooks',
  '//shop.example/',
  'https:shop.example',
  'https:/shop.example',
  'https:///shop.example',
  'https://',
  'https://?q',
  'https://#',
  'https:\\\\shop.example',
  'https://shop.example\\@127.0.0.1/',
  ' https://shop.example',
  'https://shop.example ',
  'https://shop.\texample/',
  'https://shop.example/a\nb',
  'https://shop.example/\u0000',
  'https://shop example/',
  'https://shop.example:99999/',
  'https://1.2.3.4.5/',
  'https://[::1%25lo]/',
  'https://[::1/',
  'https://%zz/',
  'mailto:sam@shop.example',
  'javascript:alert(1)',
])('rejects %j, which is no absolute URL', (text) => {
  expect(urlFault(text, publicOnly)).toBe(NOT_ABSOLUTE)
})

test.each([
  'http://shop.example/',
  'ftp://shop.example/',
  'file://shop.example/',
  'wss://shop.example/',
  'gopher://x.y/',
])('rejects the protocol of %s', (text) => {
  expect(urlFault(text, publicOnly)).toBe(
    'must start with https:, because webhooks are not sent over other protocols.',
  )
})

test('rejects user names and passwords, also empty ones', () => {
  for (const userInfo of ['sam', 'sam:secret', ':secret', ':', '', '127.0.0.1', 'a@b']) {
    expect(urlFault(`https://${userInfo}@shop.example/`, publicOnly), userInfo).toContain('user name')
  }
})

test('rejects a fragment, the port 0, and more than 2,048 characters', () => {
  expect(urlFault('https://shop.example/#top', publicOnly)).toContain('fragment')
  expect(urlFault('https://shop.example/#', publicOnly)).toContain('fragment')
  expect(urlFault('https://shop.example:0/', publicOnly)).toContain('port 0')
  expect(urlFault(`https://shop.example/${'a'.repeat(URL_LENGTH_MAX - 20)}`, publicOnly)).toBe(
    'must have at most 2048 characters.',
  )
})

test.each([
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://0177.0x0.1/',
  'https://127。0。0。1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://%31%32%37.0.0.1/',
  'https://127%2e0%2e0%2e1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://0xa000001/',
  'https://192.168.1.1:8443/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://168.63.129.16/',
  'https://100.100.100.200/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
])('rejects %s, which is a private or reserved address', (text) => {
  expect(urlFault(text, publicOnly)).toBe(PRIVATE_ADDRESS)
})

test.each([
  'https://localhost/',
  'https://LOCALHOST:8443/',
  'https://localhost./',
  'https://%6cocalhost/',
  'https://ｌｏｃａｌｈｏｓｔ/',
  'https://shop.localhost/',
  'https://a.b.localhost./',
  'https://petstore/',
  'https://com/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://instance-data.ec2.INTERNAL./',
])('rejects %s, which is a local name', (text) => {
  expect(urlFault(text, publicOnly)).toBe(LOCAL_NAME)
})

test.each([
  'https://shop..example/',
  'https://.shop.example/',
  'https://../',
  'https://shop.example../',
  'https://./',
])('rejects %s, which has an empty label', (text) => {
  expect(urlFault(text, publicOnly)).toBe('must contain a valid host name, such as shop.example.')
})

test('with allowed networks, accepts their addresses, local names and http:', () => {
  for (const text of [
    'http://127.0.0.1:4000/hook',
    'https://127.1/',
    'http://[::1]:4000/',
    'http://localhost:4000/',
    'http://receiver:4000/',
    'https://receiver.internal/',
    'http://shop.example/',
    'https://8.8.8.8/',
  ]) {
    expect(urlFault(text, withLoopback), text).toBeUndefined()
  }
})

test('with allowed networks, rejects other private addresses, and http: to public addresses', () => {
  for (const host of ['10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]', '[::2]']) {
    expect(urlFault(`http://${host}/`, withLoopback), host).toBe(PRIVATE_ADDRESS)
    expect(urlFault(`https://${host}/`, withLoopback), host).toBe(PRIVATE_ADDRESS)
  }
  expect(urlFault('http://8.8.8.8/', withLoopback)).toBe(
    'must start with https:, because http: is only allowed for the networks that the operator has listed.',
  )
  expect(urlFault('ftp://127.0.0.1/', withLoopback)).toBe(
    'must start with https: or http:, because webhooks are not sent over other protocols.',
  )
})
