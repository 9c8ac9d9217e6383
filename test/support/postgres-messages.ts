// Parses messages of PostgreSQL's protocol, version 3, as far as a proxy needs: where each message begins and ends, which
// statement it belongs to, and whether it ends a response.

export interface Message {
  /** One letter; empty for messages at the start of a connection, which have none. */
  type: string
  bytes: Buffer
}

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
/** Authentication messages that require a reply: cleartext, MD5, GSSAPI, and the first two steps of SASL. */
const NEEDS_REPLY = new Set([3, 5, 7, 10, 11])

/** Splits the bytes of one direction into messages, however they were chunked. */
export function openSplitter(side: 'client' | 'server'): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0)
  let isTagged = side === 'server'
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const start = isTagged ? 1 : 0
      if (rest.length < start + 4) return messages
      const end = start + rest.readInt32BE(start)
      if (rest.length < end) return messages
      const bytes = rest.subarray(0, end)
      messages.push({ type: isTagged ? String.fromCharCode(bytes[0] as number) : '', bytes })
      rest = rest.subarray(end)
      // Only a client that requested encryption sends a second message without a letter.
      isTagged ||= !requestsEncryption(bytes)
    }
  }
}

/** Whether the client requests encryption. The response is a single byte, and the rest cannot be parsed. */
export function requestsEncryption(bytes: Buffer): boolean {
  return bytes.length === 8 && [SSL_REQUEST, GSS_REQUEST].includes(bytes.readInt32BE(4))
}

/** Whether the server now waits for the client. */
export function endsResponse({ type, bytes }: Message): boolean {
  if (type === 'R') return NEEDS_REPLY.has(bytes.readInt32BE(5))
  return type === 'Z' || type === 'G'
}

/** Whether the server starts or continues to work after this message of the client. */
export function endsRequest({ type }: Message): boolean {
  return ['', 'p', 'Q', 'S', 'd', 'c', 'f', 'X'].includes(type)
}

const WITHOUT_STATEMENT: Record<string, string> = {
  '': 'startup',
  p: 'password',
  d: 'copy data',
  c: 'copy done',
  f: 'copy failed',
  X: 'terminate',
}

/**
 * The statement that a message of the client belongs to: its name, or the beginning of its text if it has no name.
 * Undefined if the message continues the previous statement.
 */
export function statementOf({ type, bytes }: Message): string | undefined {
  const texts = () => bytes.toString('utf8', 5).split('\0')
  if (type === 'Q') return beginningOf(texts()[0])
  if (type === 'P') return texts()[0] || beginningOf(texts()[1])
  if (type === 'B') return texts()[1] || undefined
  return WITHOUT_STATEMENT[type]
}

function beginningOf(text = ''): string {
  return text.trim().split(/\s+/).slice(0, 3).join(' ')
}

/** A message that PostgreSQL sends unprompted: a warning, or the end of the connection. */
export function notice(severity: 'WARNING' | 'FATAL', code: string, text: string, routine: string): Buffer {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0R${routine}\0\0`)
  const head = Buffer.alloc(5)
  head.write(severity === 'FATAL' ? 'E' : 'N')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}
