// The reader of the log stalls or goes away: the service keeps running, its memory stays bounded, and it still ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLogWriter, UNWRITTEN_MAX_CHARACTERS } from '../../src/log-writer.ts'
import { createTestDatabase } from '../support/database.ts'
import { cleanEnvironment, END_WITH_PARENT, EXECUTABLE } from '../support/service.ts'

const DATABASE_URL = await createTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'petstore-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Lines of 270 bytes: together more than the pipe between the processes holds, 208 KiB on Linux. */
const REQUESTS = 1_200
const REQUESTS_AT_ONCE = 50
const LONG_REQUEST_ID = { 'x-request-id': 'x'.repeat(128) }

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** On SIGUSR2 a thread of the pool blocks, and an error is thrown that nothing catches. */
function faultOnSignal(fifo: string): string {
  return `process.on('SIGUSR2', () => { process.getBuiltinModule('fs').open('${fifo}', 'r', () => {}); throw new Error('planted') })`
}

/** A service whose log nobody reads. */
async function startUnread(fifo = '') {
  const child = spawn(process.execPath, [...END_WITH_PARENT, EXECUTABLE, 'serve'], {
    env: cleanEnvironment({
      DATABASE_URL,
      PORT: '0',
      ADMIN_PORT: '0',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(faultOnSignal(fifo))}`,
    }),
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  children.push(child)
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const [{ address, admin }] = (await once(child, 'message')) as [{ address: string; admin: string }]
  return {
    child,
    ended,
    send: async (count: number) => {
      const ask = async () => (await fetch(`${address}/v1/pets`, { headers: LONG_REQUEST_ID })).status
      for (let sent = 0; sent < count; sent += REQUESTS_AT_ONCE) {
        const statuses = await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, ask))
        expect(new Set(statuses)).toEqual(new Set([401]))
      }
    },
    metrics: async () => (await fetch(`${admin}/metrics`)).text(),
  }
}

test.concurrent('a stalled reader does not keep the service from ending on SIGTERM', async () => {
  const { child, ended, send, metrics } = await startUnread()
  await send(REQUESTS)
  expect(await metrics()).toMatch(/^petstore_log_lines_dropped_total 0$/m)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test.concurrent('a reader that goes away does not end the service', async () => {
  const { child, ended, send } = await startUnread()
  child.stdout?.destroy()
  await send(REQUESTS_AT_ONCE)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test.concurrent('a stalled reader and a blocked thread do not keep the service from ending on a fault', async () => {
  const fifo = join(folder, 'blocked')
  execFileSync('mkfifo', [fifo])
  const { child, ended, send } = await startUnread(fifo)
  await send(REQUESTS)
  child.kill('SIGUSR2')
  expect(await ended).toEqual([null, 'SIGKILL'])
})

test('lines beyond the limit are dropped and counted, and reported once the reader has caught up', async () => {
  const fifo = join(folder, 'log')
  execFileSync('mkfifo', [fifo])
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
  const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)
  const recovered = Promise.withResolvers<number>()
  const writer = openLogWriter(fd, recovered.resolve)
  const line = `${'x'.repeat(1_023)}\n`
  const kept = UNWRITTEN_MAX_CHARACTERS / line.length
  for (let count = 0; count < kept + 10; count += 1) writer.write(line)
  expect(writer.droppedLines()).toBe(10)
  expect(writer.unwrittenCharacters()).toBe(UNWRITTEN_MAX_CHARACTERS)

  let read = 0
  const chunk = Buffer.alloc(1_048_576)
  const reading = setInterval(() => {
    try {
      read += readSync(reader, chunk)
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
    }
  }, 1)
  expect(await recovered.promise).toBe(10)
  await expect.poll(() => read, { timeout: 20_000 }).toBe(kept * line.length)
  clearInterval(reading)
  expect(writer.unwrittenCharacters()).toBe(0)

  writer.write(line)
  writer.flushSync()
  expect(readSync(reader, chunk)).toBe(line.length)
  closeSync(reader)
  closeSync(fd)
})
