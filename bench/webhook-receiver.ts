// A receiver of webhooks in a process of its own: it reports the delay of each message to its parent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const REPORTED_EVERY_MS = 200
let delaysMs: number[] = []

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string }
    delaysMs.push(Date.now() - Date.parse(timestamp))
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` })
})
setInterval(() => {
  if (delaysMs.length > 0) process.send?.({ delaysMs })
  delaysMs = []
}, REPORTED_EVERY_MS)
process.on('disconnect', () => process.exit())
