// Runs on the server while it is upgraded, with node and nothing else. Appends a line of JSON to a file for each result.
//
//   node upgrade-witness.ts receive FILE PORT
//   node upgrade-witness.ts request FILE API_KEY PET_ID
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'

export type Witnessed =
  | { kind: 'received'; at: number; webhookId: string; position: string }
  | { kind: 'read'; at: number }
  | { kind: 'added'; at: number; petId: number }

const READ_EVERY_MS = 500
const ADD_EVERY_MS = 5_000
/** Shorter than the wait of the service for its database. Later attempts do not wait for earlier ones. */
const REQUEST_TIMEOUT_MS = 5_000

const [mode, file = '', ...values] = process.argv.slice(2)
const store = (line: Witnessed) => appendFileSync(file, `${JSON.stringify(line)}\n`)
if (mode === 'receive') receive(Number(values[0]))
if (mode === 'request') requestAlways(values[0] ?? '', values[1] ?? '')

/** A receiver of webhooks. It responds after it has stored the event. */
function receive(port: number): void {
  const storeEvent = (webhookId: string, body: string) => {
    const { data } = JSON.parse(body) as { data: { position: string } }
    store({ kind: 'received', at: Date.now(), webhookId, position: data.position })
  }
  const server = createServer((message, response) => {
    const fail = () => response.writeHead(500).end()
    text(message)
      .then((body) => storeEvent(String(message.headers['webhook-id']), body))
      .then(() => response.writeHead(204).end(), fail)
  })
  server.listen(port, '127.0.0.1')
}

/** Reads a pet and adds pets through HAProxy, each time with a new connection. Stores only what succeeds. */
function requestAlways(apiKey: string, petId: string): void {
  const options = {
    host: '127.0.0.1',
    servername: 'shop.example',
    ca: readFileSync('/etc/haproxy/test.pem'),
    agent: false,
    headers: {
      Host: 'shop.example',
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
    },
  } as const
  const send = (method: string, path: string, expected: number, body: string | undefined) =>
    new Promise<string>((resolve, reject) => {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
      const sent = request({ ...options, method, path, signal }, (response) => {
        const failed = new Error(`${method} ${path}: ${response.statusCode}`)
        text(response).then(
          (found) => (response.statusCode === expected ? resolve(found) : reject(failed)),
          reject,
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const read = async () => {
    await send('GET', `/v1/pets/${petId}`, 200, undefined)
    store({ kind: 'read', at: Date.now() })
  }
  const add = async () => {
    const pet = JSON.stringify({ name: 'during the upgrade', categoryId: 1 })
    const { id } = JSON.parse(await send('POST', '/v1/pets', 201, pet)) as { id: number }
    store({ kind: 'added', at: Date.now(), petId: id })
  }
  // systemd adds the time, and journalctl shows it.
  const log = (error: Error) => process.stderr.write(`${error.message}\n`)
  setInterval(() => void read().catch(log), READ_EVERY_MS)
  setInterval(() => void add().catch(log), ADD_EVERY_MS)
}
