// HTTP server that returns a constant page of twenty pets. It is the baseline: the cost of node:http alone.
import { createServer } from 'node:http'

const page = Array.from({ length: 20 }, (_, index) => ({
  id: 1_000_000 - index,
  name: `Pet ${1_000_000 - index}`,
  categoryId: 1 + index,
  status: 'available',
}))
const body = Buffer.from(JSON.stringify(page))

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
  })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address !== 'string') process.send?.(`http://127.0.0.1:${address.port}`)
})
process.on('SIGTERM', () => process.exit())
