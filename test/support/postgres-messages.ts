// The messages of PostgreSQL's protocol, version 3, as far as somebody between client and server has to know them:
// where each begins and ends, which statement it belongs to, and which one ends an answer.

export interface Message {
  /** One letter; empty for those at the start of a connection, which have none. */
  type: string
  bytes: Buffer
}

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
/** What authentication may ask of the client: a password in three forms, and the first two steps of SASL. */
const ASKING = new Set([3, 5, 7, 10, 11])

/** Cuts the bytes of one direction into messages, however they were chunked. */
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
      // Only who asked for encryption begins a second time without a letter.
      isTagged ||= !asksForEncryption(bytes)
    }
  }
}

/** Its answer is a single byte, and what follows a yes cannot be read. */
export function asksForEncryption(bytes: Buffer): boolean {
  return bytes.length === 8 && [SSL_REQUEST, GSS_REQUEST].includes(bytes.readInt32BE(4))
}

/** Whether the server has said all that it says before the client's next word. */
export function endsResponse({ type, bytes }: Message): boolean {
  if (type === 'R') return ASKING.has(bytes.readInt32BE(5))
  return type === 'Z' || type === 'G'
}

/** Whether the server begins to work, or goes on, with what the client has sent up to here. */
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
 * The statement that a message of the client names: by its name where it has one, by the beginning of its text where
 * it has none. Undefined where the message only goes on with one that was named before.
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

/** Something that PostgreSQL might say of its own accord: a warning, or that it ends the connection. */
export function notice(severity: 'WARNING' | 'FATAL', code: string, text: string, routine: string): Buffer {
  const fields = Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0R${routine}\0\0`)
  const head = Buffer.alloc(5)
  head.write(severity === 'FATAL' ? 'E' : 'N')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}
