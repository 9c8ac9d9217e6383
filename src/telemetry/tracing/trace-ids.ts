// Makes random ids of traces and spans. The generator of the SDK takes three times as long, and every request needs an id.
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Eight hexadecimal digits. Not all of them are zeros, because an id of zeros is invalid. */
function randomPart(): string {
  const value = 1 + Math.random() * 0xffff_ffff
  return (
    (BYTES[(value >>> 24) & 0xff] as string) +
    (BYTES[(value >>> 16) & 0xff] as string) +
    (BYTES[(value >>> 8) & 0xff] as string) +
    (BYTES[value & 0xff] as string)
  )
}

export const makeTraceId = () => randomPart() + randomPart() + randomPart() + randomPart()
export const makeSpanId = () => randomPart() + randomPart()
