// URLs made to keep the process busy. They are parsed before the API key is checked.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDecodable, makeDecodable } from '../../src/http/decodable-url.ts'

function isDecodableByTrying(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

test('isDecodable accepts exactly the texts that decodeURIComponent accepts', () => {
  const escape = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const piece = fc.oneof(
    fc.constantFrom('%', '%4', '%zz', 'a', '&', 'ÿ', '%C3%A9', '%ed%a0%80', '%F0%9F%90%B6'),
    escape,
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
      const part = pieces.join('')
      expect(isDecodable(part)).toBe(isDecodableByTrying(part))
    }),
    { numRuns: 5_000 },
  )
})

test('makeDecodable handles thousands of malformed escapes without the cost of an exception for each', () => {
  const cpuTime = (work: () => unknown) => {
    const times = Array.from({ length: 5 }, () => {
      const before = process.threadCpuUsage().user
      for (let round = 0; round < 3; round += 1) work()
      return process.threadCpuUsage().user - before
    })
    return Math.min(...times)
  }
  const url = `/v1/pets?${'%&'.repeat(8_000)}`
  const byTrying = cpuTime(() => url.split('&').map(isDecodableByTrying))
  expect(cpuTime(() => makeDecodable(url))).toBeLessThan(byTrying / 3)
})
