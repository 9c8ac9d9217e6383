// `node lab/bench/webhooks.ts`: measures the delivery of webhooks: the time from a change to its receipt at a fixed rate, and
// how fast the deliveries to a receiver catch up that was down.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { print, say, table } from '../../src/cli/terminal/terminal.ts'
import { environmentWith } from '../../src/config/config.ts'
import { quantile } from '../parts/quantile.ts'
import { waitUntil } from '../parts/wait-until.ts'
import { nodeFlags, startService, startStore, withRoleSettings } from './setup.ts'
import { usedBy } from './tools.ts'

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    events: { type: 'string', default: '20000' },
  },
})
const [rate, seconds, events] = [Number(options.rate), Number(options.seconds), Number(options.events)]
const ROOT = join(import.meta.dirname, '../..')
const WAIT_MAX_MS = 300_000

async function startReceiver() {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const delaysMs: number[] = []
  child.on('message', (report: { delaysMs?: number[] }) => delaysMs.push(...(report.delaysMs ?? [])))
  return { url, delaysMs, close: () => child.disconnect() }
}

async function startDelivery(databaseUrl: string) {
  const child = spawn(process.execPath, [...nodeFlags(), join(ROOT, 'bin/petstore.ts'), 'deliver'], {
    env: environmentWith({
      DATABASE_URL: withRoleSettings(databaseUrl),
      ADMIN_PORT: '0',
      WEBHOOK_NETWORKS: '127.0.0.1',
    }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

const store = await startStore(1_000, {
  scopes: ['pets:read', 'pets:write', 'webhooks:read', 'webhooks:write'],
})
const service = await startService(store.databaseUrl, { webhookNetworks: '127.0.0.1' })
const receiver = await startReceiver()
const delivery = await startDelivery(store.databaseUrl)

async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
  const response = await fetch(`${service.origin}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${store.apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}

async function untilReceived(count: number): Promise<void> {
  await waitUntil(`${count} messages`, WAIT_MAX_MS, () => receiver.delaysMs.length >= count)
}

const addPet = (index: number) => call('POST', '/pets', { name: `Pet ${index}`, categoryId: 1 })

const { id } = await call<{ id: number }>('POST', '/webhooks', { url: receiver.url, types: ['pet.created'] })
await sleep(2_000)
say(`${rate} changes per second for ${seconds} seconds …`)
const startedAt = performance.now()
const changes: Promise<unknown>[] = []
for (let index = 0; index < rate * seconds; index += 1) {
  const waitMs = startedAt + (index * 1_000) / rate - performance.now()
  if (waitMs > 1) await sleep(waitMs)
  changes.push(addPet(index))
}
await Promise.all(changes)
await untilReceived(changes.length)
const delays = receiver.delaysMs.splice(0)

say(`A receiver that was down for ${events} events …`)
await call('PATCH', `/webhooks/${id}`, { enabled: false })
for (let added = 0; added < events; added += 100) {
  await Promise.all(Array.from({ length: 100 }, (_, index) => addPet(added + index)))
}
await sleep(1_000)
const cpuBefore = usedBy(delivery.pid ?? 0).cpuSeconds
const enabledAt = performance.now()
await call('PATCH', `/webhooks/${id}`, { enabled: true })
await untilReceived(events)
const catchUpSeconds = (performance.now() - enabledAt) / 1_000
const cpuSeconds = usedBy(delivery.pid ?? 0).cpuSeconds - cpuBefore

delivery.kill('SIGTERM')
await once(delivery, 'exit')
receiver.close()
await service.stop()
await store.close()
print(
  table([
    ['figure', 'value'],
    ['change to receipt, p50', `${quantile(delays, 0.5).toFixed(0)} ms`],
    ['change to receipt, p99', `${quantile(delays, 0.99).toFixed(0)} ms`],
    ['deliveries per second while catching up', (events / catchUpSeconds).toFixed(0)],
    ['CPU time of the deliverer per delivery', `${((cpuSeconds * 1e6) / events).toFixed(0)} µs`],
  ]),
)
