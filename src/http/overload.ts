// More requests than can be done in good time are refused at once, before anything is done for them: a refusal
// must cost far less than an answer, or a flood would leave no time to answer anybody.
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { bareError } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { requestId } from './request-id.ts'

const REFUSAL = bareError('overloaded')
const REFUSAL_HEADERS = Object.entries(REFUSAL.headers).flat()

interface Limits {
  underWayMax: number
  metrics: Metrics
  /** While true, every answer asks the client to close its connection. */
  isDraining: () => boolean
}

export function shedLoad(app: FastifyInstance, { underWayMax, metrics, isDraining }: Limits): void {
  let underWay = 0
  const oneLess = () => {
    underWay -= 1
  }
  // In the place of Fastify's own listener, which would route every request.
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (underWay >= underWayMax) {
      if (isDraining()) response.setHeader('connection', 'close')
      refuse(response, requestId(request))
      metrics.observeRequest('none', 503, 0)
      return
    }
    underWay += 1
    // Also where the client went away before its answer.
    response.on('close', oneLess)
    app.routing(request, response)
  })
}

function refuse(response: ServerResponse, id: string): void {
  response.writeHead(REFUSAL.status, [...REFUSAL_HEADERS, 'x-request-id', id])
  response.end(REFUSAL.json)
}
