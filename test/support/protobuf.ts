// Reads the fields of a Protocol Buffers message, without a schema.

export interface Field {
  /** A number of a varint or fixed field. */
  number: bigint
  /** The content of a text, a nested message or bytes. */
  bytes: Buffer
}

const NO_BYTES = Buffer.alloc(0)

/** Returns the values of each field, by its number in the schema, in the order of the message. */
export function readFields(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>()
  let at = 0

  function readVarint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(message.readUInt8(at))
      at += 1
      value |= (byte & 0x7fn) << shift
      if (byte < 0x80n) return value
    }
  }

  function take(length: number): Buffer {
    at += length
    if (at > message.length) throw new RangeError('the message is too short')
    return message.subarray(at - length, at)
  }

  function readValue(wireType: number): Field {
    if (wireType === 0) return { number: readVarint(), bytes: NO_BYTES }
    if (wireType === 1) {
      const bytes = take(8)
      return { number: bytes.readBigUInt64LE(), bytes }
    }
    if (wireType === 2) return { number: 0n, bytes: take(Number(readVarint())) }
    if (wireType === 5) return { number: BigInt(take(4).readUInt32LE()), bytes: NO_BYTES }
    throw new RangeError(`wire type ${wireType} is not supported`)
  }

  while (at < message.length) {
    const tag = Number(readVarint())
    const field = tag >> 3
    fields.set(field, [...(fields.get(field) ?? []), readValue(tag & 7)])
  }
  return fields
}
