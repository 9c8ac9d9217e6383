// Open-loop load generator: sends requests at a fixed rate, each on an idle connection, without waiting for responses
// to earlier requests. Runs in its own process and prints the results of each second as JSON.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { randomCursor } from './workloads.ts'

const { values } = parseArgs({
  options: {
    origin: { type: 'string', default: '' },
    key: { type: 'string', default: '' },
    workload: { type: 'string', default: 'get' },
    pets: { type: 'string', default: '1' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '900' },
  },
})

const { hostname, port } = new URL(values.origin)
const [rate, seconds, pets] = [Number(values.rate), Number(values.seconds), Number(values.pets)]
const HEAD = `Host: ${hostname}\r\nAuthorization: Bearer ${values.key}\r\n`
/** How long to wait for responses after the load ends. Requests without a response by then are unacknowledged. */
const DRAIN_MS = 15_000

interface Second {
  sent: number
  accepted: number
  rejected: number
  /** Requests whose connection closed before the response. */
  cut: number
  /** Responses with a status other than 200, 201, 404 and 503. */
  other: number
  /**
   * Milliseconds from sending an accepted request to its response. A request may be sent late if this process is busy.
   */
  acceptedMs: number[]
  /** The same for requests that were rejected or cut. */
  rejectedMs: number[]
}

const results: Second[] = []
const idle: Socket[] = []
let open = 0
let inFlight = 0
let notSent = 0
let startedAt = performance.now()

function secondOf(dueAt: number): Second {
  const index = Math.floor((dueAt - startedAt) / 1000)
  results[index] ??= { sent: 0, accepted: 0, rejected: 0, cut: 0, other: 0, acceptedMs: [], rejectedMs: [] }
  return results[index]
}

function nextRequest(): string {
  if (values.workload === 'create') {
    const body = `{"name":"Pet ${inFlight}","categoryId":1}`
    return `POST /v1/pets HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
  if (values.workload === 'list random') {
    return `GET /v1/pets?status=available&cursor=${randomCursor(pets)} HTTP/1.1\r\n${HEAD}\r\n`
  }
  return `GET /v1/pets/${1 + Math.floor(Math.random() * pets)} HTTP/1.1\r\n${HEAD}\r\n`
}

interface Pending {
  dueAt: number
  sentAt: number
  text: string
}
const pending = new WeakMap<Socket, Pending>()

function send(dueAt: number): void {
  const socket = idle.pop() ?? openSocket()
  if (socket === undefined) {
    notSent += 1
    return
  }
  secondOf(dueAt).sent += 1
  inFlight += 1
  pending.set(socket, { dueAt, sentAt: performance.now(), text: '' })
  socket.write(nextRequest())
}

function openSocket(): Socket | undefined {
  if (open >= Number(values.connections)) return undefined
  open += 1
  const socket = connect(Number(port), hostname).setNoDelay()
  socket.on('data', (chunk) => read(socket, chunk.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => {
    open -= 1
    const index = idle.indexOf(socket)
    if (index >= 0) idle.splice(index, 1)
    const current = pending.get(socket)
    if (current === undefined) return
    inFlight -= 1
    const second = secondOf(current.dueAt)
    second.cut += 1
    second.rejectedMs.push(performance.now() - current.sentAt)
  })
  return socket
}

function read(socket: Socket, chunk: string): void {
  const current = pending.get(socket)
  if (current === undefined) return
  current.text += chunk
  const headEnd = current.text.indexOf('\r\n\r\n')
  if (headEnd < 0) return
  const length = Number(/content-length: (\d+)/i.exec(current.text)?.[1] ?? 0)
  if (current.text.length < headEnd + 4 + length) return
  note(current, current.text.slice(9, 12))
  pending.delete(socket)
  inFlight -= 1
  idle.push(socket)
}

function note({ dueAt, sentAt }: Pending, status: string): void {
  const second = secondOf(dueAt)
  const tookMs = performance.now() - sentAt
  if (status === '200' || status === '201' || status === '404') {
    second.accepted += 1
    second.acceptedMs.push(tookMs)
  } else if (status === '503') {
    second.rejected += 1
    second.rejectedMs.push(tookMs)
  } else {
    second.other += 1
  }
}

// Opens all connections before the load starts, like a load balancer. Node accepts one connection per turn of its event
// loop, so connections opened under load would wait seconds, and the results would show that wait
// (docs/evidence/performance.md#overload).
for (let count = 0; count < Number(values.connections); count += 1) {
  const socket = openSocket() as Socket
  await once(socket, 'connect')
  idle.push(socket)
}
startedAt = performance.now()

let sent = 0
const timer = setInterval(() => {
  const elapsed = (performance.now() - startedAt) / 1000
  const due = Math.floor(Math.min(elapsed, seconds) * rate)
  for (; sent < due; sent += 1) send(startedAt + (sent / rate) * 1000)
  if (elapsed > seconds && (inFlight === 0 || elapsed * 1000 > seconds * 1000 + DRAIN_MS)) finish()
}, 1)

function finish(): void {
  clearInterval(timer)
  const percentile = (times: number[], part: number) =>
    times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
  const allAcceptedMs = results.flatMap(({ acceptedMs }) => acceptedMs)
  const perSecond = results.map(({ acceptedMs, rejectedMs, ...counts }) => ({
    ...counts,
    p50Ms: percentile(acceptedMs, 0.5),
    p99Ms: percentile(acceptedMs, 0.99),
    rejectedP99Ms: percentile(rejectedMs, 0.99),
    slowestRejectionMs: percentile(rejectedMs, 1),
  }))
  const [p50Ms, p99Ms] = [percentile(allAcceptedMs, 0.5), percentile(allAcceptedMs, 0.99)]
  process.stdout.write(
    `${JSON.stringify({ rate, seconds, notSent, unacknowledged: inFlight, p50Ms, p99Ms, perSecond })}\n`,
  )
  process.exit()
}
