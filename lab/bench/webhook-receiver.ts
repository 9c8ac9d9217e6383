// A receiver of webhooks in a process of its own: it reports the delay of each message to its parent.
import { openLocalServer } from '../parts/local-server.ts'

const REPORTED_EVERY_MS = 200
let delaysMs: number[] = []

const { origin } = await openLocalServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string }
    delaysMs.push(Date.now() - Date.parse(timestamp))
    response.writeHead(204).end()
  })
})
process.send?.({ url: `${origin}/` })
setInterval(() => {
  if (delaysMs.length > 0) process.send?.({ delaysMs })
  delaysMs = []
}, REPORTED_EVERY_MS)
process.on('disconnect', () => process.exit())
