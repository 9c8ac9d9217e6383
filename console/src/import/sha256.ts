// SHA-256 (FIPS 180-4). `crypto.subtle` exists only in secure contexts (HTTPS), and the console also works without.

const WORDS = 64
const BLOCK_BYTES = 64

/** The first 32 bits of the fractional parts of a root of each of the first primes. */
const [START, ROUNDS] = constants()

/** Returns the hash as 64 hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  const hash = Int32Array.from(START)
  const words = new Int32Array(WORDS)
  const whole = bytes.length - (bytes.length % BLOCK_BYTES)
  addBlocks(hash, words, new DataView(bytes.buffer, bytes.byteOffset, whole))
  addBlocks(hash, words, lastBlocks(bytes.subarray(whole), bytes.length))
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** The rest of the input, a bit, and the length of the whole input in bits. */
function lastBlocks(rest: Uint8Array, length: number): DataView {
  const size = rest.length < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES
  const view = new DataView(new ArrayBuffer(size))
  new Uint8Array(view.buffer).set(rest)
  view.setUint8(rest.length, 0x80)
  view.setBigUint64(size - 8, BigInt(length) * 8n)
  return view
}

function addBlocks(hash: Int32Array, words: Int32Array, blocks: DataView): void {
  for (let at = 0; at < blocks.byteLength; at += BLOCK_BYTES) {
    for (let index = 0; index < 16; index += 1) words[index] = blocks.getInt32(at + index * 4)
    for (let index = 16; index < WORDS; index += 1) {
      const [early, late] = [wordAt(words, index - 15), wordAt(words, index - 2)]
      const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
      const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
      words[index] = wordAt(words, index - 16) + first + wordAt(words, index - 7) + second
    }
    addBlock(hash, words)
  }
}

function addBlock(hash: Int32Array, words: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash
  for (let index = 0; index < WORDS; index += 1) {
    const chosen = (e & f) ^ (~e & g)
    const most = (a & b) ^ (a & c) ^ (b & c)
    const mixed =
      h +
      (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
      chosen +
      wordAt(ROUNDS, index) +
      wordAt(words, index)
    const sum = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + most
    ;[a, b, c, d, e, f, g, h] = [(mixed + sum) | 0, a, b, c, (d + mixed) | 0, e, f, g]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) hash[index] = wordAt(hash, index) + value
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function wordAt(words: Int32Array, index: number): number {
  return words[index] ?? 0
}

/** The constants of the standard: square roots of the first 8 primes, cube roots of the first 64. */
function constants(): [Int32Array, Int32Array] {
  const primes: number[] = []
  for (let number = 2; primes.length < WORDS; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number)
  }
  const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  ]
}
