// HTTP server that returns recorded responses of the service: the same headers and the same bytes, without any work.
// It is the upper limit of one Node process. It must not know how the service makes a response.
import { createServer } from 'node:http'
import type { Recordings } from './recordings.ts'

process.once('message', ({ list, get, keepAliveTimeoutMs }: Recordings) => {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    request.resume()
    const { headers, body } = request.url?.startsWith('/v1/pets/') ? get : list
    response.writeHead(200, headers)
    // Node sends text together with the headers, in one write. Bytes would take two.
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address !== 'string') process.send?.(`http://127.0.0.1:${address.port}`)
  })
})
process.on('SIGTERM', () => process.exit())
