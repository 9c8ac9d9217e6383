// Finds a text whose hash in PostgreSQL is a given number, as an attacker would.
//
// hashtextextended() is not a cryptographic hash. Its last step, `final` in src/common/hashfn.c, is invertible. It makes 96
// bits from the text, of which 64 bits are the hash. This file tries values of the other 32 bits until the inverse is a
// text of printable characters: about ten million.

const LENGTH = 11
const PRINTABLE = { min: 0x21, max: 0x7e }

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits))

/** Returns a text of 11 printable characters with hashtextextended(text, seed) = hash. */
export function findKeyWithHash(hash: bigint, seed: bigint): string {
  const [a0, b0, c0] = stateBefore(seed)
  const [bEnd, cEnd] = [Number(BigInt.asIntN(32, hash >> 32n)), Number(BigInt.asIntN(32, hash))]
  for (let aEnd = 0; aEnd < 2 ** 32; aEnd += 1) {
    const [a, b, c] = invertFinal(aEnd | 0, bEnd, cEnd)
    // The lowest byte of the third word has no character.
    const third = (c - c0) | 0
    if ((third & 0xff) !== 0 || !isPrintable(third >>> 8, 3)) continue
    const [first, second] = [(a - a0) | 0, (b - b0) | 0]
    if (!isPrintable(first, 4) || !isPrintable(second, 4)) continue
    const bytes = Buffer.alloc(12)
    for (const [index, word] of [first, second, third >>> 8].entries()) bytes.writeInt32LE(word, index * 4)
    return bytes.toString('latin1', 0, LENGTH)
  }
  throw new Error('no printable text has this hash')
}

/** The three words before the text is added: the seed is mixed into the length. */
function stateBefore(seed: bigint): [number, number, number] {
  const start = (0x9e3779b9 + LENGTH + 3_923_095) | 0
  if (seed === 0n) return [start, start, start]
  let [a, b, c] = [
    (start + Number(BigInt.asIntN(32, seed >> 32n))) | 0,
    (start + Number(BigInt.asIntN(32, seed))) | 0,
    start,
  ]
  a = ((a - c) ^ rotate(c, 4)) | 0
  c = (c + b) | 0
  b = ((b - a) ^ rotate(a, 6)) | 0
  a = (a + c) | 0
  c = ((c - b) ^ rotate(b, 8)) | 0
  b = (b + a) | 0
  a = ((a - c) ^ rotate(c, 16)) | 0
  c = (c + b) | 0
  b = ((b - a) ^ rotate(a, 19)) | 0
  a = (a + c) | 0
  c = ((c - b) ^ rotate(b, 4)) | 0
  b = (b + a) | 0
  return [a, b, c]
}

/** Undoes the steps of `final`, the last one first. */
function invertFinal(aEnd: number, bEnd: number, cEnd: number): [number, number, number] {
  let [a, b, c] = [aEnd, bEnd, cEnd]
  c = (c + rotate(b, 24)) ^ b
  b = (b + rotate(a, 14)) ^ a
  a = (a + rotate(c, 4)) ^ c
  c = (c + rotate(b, 16)) ^ b
  b = (b + rotate(a, 25)) ^ a
  a = (a + rotate(c, 11)) ^ c
  c = (c + rotate(b, 14)) ^ b
  return [a, b, c]
}

function isPrintable(word: number, bytes: number): boolean {
  for (let index = 0; index < bytes; index += 1) {
    const byte = (word >>> (8 * index)) & 0xff
    if (byte < PRINTABLE.min || byte > PRINTABLE.max) return false
  }
  return true
}
