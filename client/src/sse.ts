// Parses Server-Sent Events (the format text/event-stream of the HTML standard) from chunks that can end anywhere.
import { PetstoreError } from './errors.ts'

/** The lines up to an empty line. Lines that a connection loses before the empty line are not a message. */
export interface Message {
  /** The position of the message. A message without `data` only moves the position. */
  id?: string
  data?: string
  /** How long to wait before the next connection. */
  retryMs?: number
}

/** A server that sends a longer message is faulty. The limit bounds the memory that the client uses. */
export const MESSAGE_LENGTH_MAX = 1_000_000

/** Returns a function that takes the next chunk and returns the messages that it completes. */
export function messageParser(): (chunk: string) => Message[] {
  let rest = ''
  let skipsLineFeed = false
  let message: Message = {}
  let length = 0

  return (chunk) => {
    if (chunk === '') return []
    const lines = chunk.slice(skipsLineFeed && chunk.startsWith('\n') ? 1 : 0).split(/\r\n|\r|\n/)
    // A carriage return ends a line at once. The line feed that may follow belongs to the same line break.
    skipsLineFeed = chunk.endsWith('\r')
    lines[0] = rest + lines[0]
    rest = lines.pop() as string
    const messages: Message[] = []
    for (const line of lines) {
      length += line.length
      if (line !== '') addField(message, line)
      else {
        if (length > 0) messages.push(message)
        message = {}
        length = 0
      }
    }
    if (length + rest.length > MESSAGE_LENGTH_MAX) {
      throw new PetstoreError({ code: 'unexpected_answer', message: 'A message of the stream is too long.' })
    }
    return messages
  }
}

function addField(message: Message, line: string): void {
  const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
  if (name === 'data') message.data = message.data === undefined ? value : `${message.data}\n${value}`
  else if (name === 'id' && !value.includes('\0')) message.id = value
  else if (name === 'retry' && /^\d+$/.test(value)) message.retryMs = Number(value)
}
