// Sockets that send a request slowly and never complete it.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { runClients } from '../support/load.ts'
import { petstore, startService } from '../support/service.ts'
import { volume } from '../support/volume.ts'

const SLOW_SOCKETS = 500
// Many short rounds, so that other load on the host affects both kinds alike.
const ROUNDS = 9
const ROUND_MS = volume(400, 1_000)
const CLIENTS = 8
const HEADERS = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Slow: '

test(`${SLOW_SOCKETS} slow sockets do not slow down other clients`, async () => {
  const DATABASE_URL = await createTestDatabase()
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'load'], { DATABASE_URL })
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
  const target = { ...service, apiKey: stdout.trim() }

  async function measure(): Promise<{ perSecond: number; p99: number; failed: number }> {
    const times: number[] = []
    let failed = 0
    const until = AbortSignal.timeout(ROUND_MS)
    await runClients(target, CLIENTS, until, async ({ send }) => {
      const { status, ms } = await send('GET', '/v1/pets?limit=5')
      times.push(ms)
      if (status !== 200) failed += 1
    })
    times.sort((a, b) => a - b)
    return {
      perSecond: (times.length / ROUND_MS) * 1000,
      p99: times[Math.floor(times.length * 0.99)] ?? 0,
      failed,
    }
  }

  await measure()
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await measure()
    const slow = openSlowSockets(service.origin)
    await slow.connected
    const withSlow = await measure()
    slow.end()
    console.log({ alone, withSlow, rejected: slow.rejected() })
    expect(withSlow.failed).toBe(0)
    ratios.push(withSlow.perSecond / alone.perSecond)
  }
  ratios.sort((a, b) => a - b)
  // Rounds on a shared host vary by a third. Slow sockets that blocked other clients would reduce the throughput much more.
  expect(ratios[Math.floor(ROUNDS / 2)]).toBeGreaterThan(0.5)
  expect(await service.stop()).toBe(0)
})

test('returns 408 if the headers of a request do not arrive in 5 seconds, earlier than for a body, which has 10', async () => {
  const DATABASE_URL = await createTestDatabase()
  const { stdout } = await petstore(['api-keys', 'create', '--name', 'slow'], { DATABASE_URL })
  const service = await startService({ DATABASE_URL, LOG_LEVEL: 'error' })
  const withBody = `POST /v1/pets HTTP/1.1
Host: x
Authorization: Bearer ${stdout.trim()}
Content-Type: application/json
Content-Length: 999

`.replaceAll('\n', '\r\n')
  const order: string[] = []
  const bodies = openSlowSockets(service.origin, 20, withBody, () => order.push('body'))
  const headers = openSlowSockets(service.origin, 20, HEADERS, () => order.push('headers'))
  await expect.poll(() => order).toHaveLength(40)
  expect(order.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'headers'))
  headers.end()
  bodies.end()
  await service.stop()
})

interface SlowSockets {
  connected: Promise<unknown>
  end: () => void
  rejected: () => number
}

/** Each socket sends the start of a request, then one character at a time, and never ends it. */
function openSlowSockets(
  origin: string,
  count = SLOW_SOCKETS,
  start = HEADERS,
  onRejected: () => void = () => {},
): SlowSockets {
  const { hostname, port } = new URL(origin)
  let rejected = 0
  const sockets: Socket[] = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.on('data', (response) => {
      if (!response.toString().startsWith('HTTP/1.1 408 ')) return
      rejected += 1
      onRejected()
    })
    socket.write(start)
    return socket
  })
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a')
  }, 500)
  return {
    connected: Promise.all(sockets.map((socket) => once(socket, 'connect'))),
    end: () => {
      clearInterval(dripping)
      for (const socket of sockets) socket.destroy()
    },
    rejected: () => rejected,
  }
}
