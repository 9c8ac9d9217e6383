// The parser of Server-Sent Events.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MESSAGE_LENGTH_MAX, type Message, messageParser } from '../../client/src/sse.ts'
import { eventsText } from './event-server.ts'

function parse(...chunks: string[]): Message[] {
  const next = messageParser()
  return chunks.flatMap((chunk) => next(chunk))
}

test.each([
  {
    name: 'a message with all fields',
    text: 'id: 7\ndata: x\nretry: 5\n\n',
    messages: [{ id: '7', data: 'x', retryMs: 5 }],
  },
  { name: 'CRLF', text: 'id: 7\r\ndata: x\r\n\r\n', messages: [{ id: '7', data: 'x' }] },
  { name: 'CR', text: 'id: 7\rdata: x\r\r', messages: [{ id: '7', data: 'x' }] },
  {
    name: 'mixed line breaks',
    text: 'id: 7\r\ndata: x\n\rdata: y\r\r\n',
    messages: [{ id: '7', data: 'x' }, { data: 'y' }],
  },
  { name: 'several data lines', text: 'data: a\ndata\ndata:  b\n\n', messages: [{ data: 'a\n\n b' }] },
  { name: 'a value without a space', text: 'data:x\n\n', messages: [{ data: 'x' }] },
  { name: 'a value with colons', text: 'data: a: b:c\n\n', messages: [{ data: 'a: b:c' }] },
  { name: 'an id without data', text: 'id: 7\n\n', messages: [{ id: '7' }] },
  { name: 'a comment within a message', text: 'data: a\n: hi\ndata: b\n\n', messages: [{ data: 'a\nb' }] },
  { name: 'an unknown field', text: 'colour: red\ndata: a\n\n', messages: [{ data: 'a' }] },
  {
    name: 'an invalid retry and an id with NUL',
    text: 'retry: 1s\nid: 7\0\ndata: a\n\n',
    messages: [{ data: 'a' }],
  },
  {
    name: 'empty lines between messages',
    text: '\n\ndata: a\n\n\n\ndata: b\n\n',
    messages: [{ data: 'a' }, { data: 'b' }],
  },
  {
    name: 'no message before its empty line',
    text: 'data: a\n\nid: 8\ndata: b\n',
    messages: [{ data: 'a' }],
  },
])('parses $name', ({ text, messages }) => {
  expect(parse(text)).toEqual(messages)
  expect(parse(...text.split(''))).toEqual(messages)
})

test('a keep-alive comment has no fields', () => {
  expect(parse(': keep-alive\n\n')).toEqual([{}])
})

test('returns the same messages wherever the chunks end', () => {
  const lineBreak = fc.constantFrom('\n', '\r', '\r\n')
  fc.assert(
    fc.property(lineBreak, fc.array(fc.nat(400), { maxLength: 20 }), (newline, cuts) => {
      const text = `: hi\n\n${eventsText(1, 3)}`.replaceAll('\n', newline)
      const at = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length]
      const chunks = at.slice(1).map((end, index) => text.slice(at[index], end))
      expect(parse(...chunks)).toEqual(parse(`: hi\n\n${eventsText(1, 3)}`))
    }),
  )
})

test('rejects a message without end', () => {
  for (const chunk of ['a'.repeat(999), `data: ${'a'.repeat(993)}\n`]) {
    const next = messageParser()
    expect(() => {
      for (let length = 0; length <= MESSAGE_LENGTH_MAX; length += 999) next(chunk)
    }).toThrow('too long')
  }
})
