// A reader of the log that stalls or closes the pipe: the service keeps running with bounded memory, and can be stopped.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLogWriter, UNWRITTEN_MAX_CHARACTERS } from '../../src/telemetry/log-writer.ts'
import { createTestDatabase } from '../support/database.ts'
import { cleanEnvironment, END_WITH_PARENT, EXECUTABLE } from '../support/service.ts'

const DATABASE_URL = await createTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'petstore-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Each request logs a line of 270 bytes. Together they exceed the 64 KiB that a pipe holds. */
const REQUESTS = 300
const REQUESTS_AT_ONCE = 50
const LONG_REQUEST_ID = { 'x-request-id': 'x'.repeat(128) }

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** On SIGUSR2 a thread of the libuv pool blocks, and an uncaught error is thrown. */
function crashOnSignal(fifo: string): string {
  return `process.on('SIGUSR2', () => { process.getBuiltinModule('fs').open('${fifo}', 'r', () => {}); throw new Error('test error') })`
}

function openFifo(name: string, writerFlags = 0): { reader: number; writer: number } {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { reader, writer: openSync(path, constants.O_WRONLY | writerFlags) }
}

/** A service that logs to a pipe. Nothing reads the pipe. */
async function startUnread(name: string, blockingFifo = '') {
  const { reader, writer } = openFifo(name)
  const child = spawn(process.execPath, [...END_WITH_PARENT, EXECUTABLE, 'serve'], {
    env: cleanEnvironment({
      DATABASE_URL,
      PORT: '0',
      ADMIN_PORT: '0',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crashOnSignal(blockingFifo))}`,
    }),
    stdio: ['ignore', writer, 'inherit', 'ipc'],
  })
  closeSync(writer)
  children.push(child)
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const [{ address, admin }] = (await once(child, 'message')) as [{ address: string; admin: string }]
  return {
    child,
    ended,
    reader,
    send: async (count: number) => {
      const request = async (): Promise<number> => {
        const { status } = await fetch(`${address}/v1/pets`, { headers: LONG_REQUEST_ID })
        // The test process was too slow to send the request.
        return status === 408 ? request() : status
      }
      for (let sent = 0; sent < count; sent += REQUESTS_AT_ONCE) {
        const statuses = await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, request))
        expect(new Set(statuses)).toEqual(new Set([401]))
      }
    },
    metrics: async () => (await fetch(`${admin}/metrics`)).text(),
    countUnreadLines: () => {
      const buffer = Buffer.alloc(1_048_576)
      return buffer.toString('latin1', 0, readSync(reader, buffer)).split('\n').length
    },
  }
}

test.concurrent('a service whose log reader stalls exits on SIGTERM', async () => {
  const { child, ended, send, metrics, countUnreadLines } = await startUnread('stalled')
  await send(REQUESTS)
  expect(await metrics()).toMatch(/^petstore_log_lines_dropped_total 0$/m)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  // The pipe was full, so some lines are missing.
  expect(countUnreadLines()).toBeLessThan(REQUESTS)
})

test.concurrent('a service whose log reader closes the pipe keeps running', async () => {
  const { child, ended, send, reader } = await startUnread('closed')
  closeSync(reader)
  await send(REQUESTS_AT_ONCE)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test.concurrent('a service with a stalled log reader and a blocked thread ends after an uncaught error', async () => {
  const blockingFifo = join(folder, 'blocking')
  execFileSync('mkfifo', [blockingFifo])
  const { child, ended, send } = await startUnread('stalled-and-blocked', blockingFifo)
  await send(REQUESTS)
  child.kill('SIGUSR2')
  expect(await ended).toEqual([null, 'SIGKILL'])
})

test('lines beyond the limit are dropped and counted, and reported once the reader has caught up', async () => {
  const { reader, writer: fd } = openFifo('log', constants.O_NONBLOCK)
  const recovered = Promise.withResolvers<number>()
  const writer = openLogWriter(fd, recovered.resolve)
  const line = `${'x'.repeat(1_023)}\n`
  const kept = UNWRITTEN_MAX_CHARACTERS / line.length
  for (let count = 0; count < kept + 10; count += 1) writer.write(line)
  expect(writer.droppedLines()).toBe(10)
  expect(writer.unwrittenCharacters()).toBe(UNWRITTEN_MAX_CHARACTERS)

  let bytesRead = 0
  const chunk = Buffer.alloc(1_048_576)
  const reading = setInterval(() => {
    try {
      bytesRead += readSync(reader, chunk)
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' })
    }
  }, 1)
  expect(await recovered.promise).toBe(10)
  await expect.poll(() => bytesRead).toBe(kept * line.length)
  clearInterval(reading)
  expect(writer.unwrittenCharacters()).toBe(0)

  writer.write(line)
  writer.flushSync()
  expect(readSync(reader, chunk)).toBe(line.length)
  closeSync(reader)
  closeSync(fd)
})
