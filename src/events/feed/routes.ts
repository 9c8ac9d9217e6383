// HTTP route of the event feed.
// Contains no SQL; the rules are in feed.ts.
import type { OutgoingHttpHeaders } from 'node:http'
import type { Caller } from '../../contract/caller.ts'
import { PAGE_BYTES_MAX } from '../../contract/paging.ts'
import type { Db } from '../../db/database.ts'
import { insufficientScope } from '../../http/authentication.ts'
import { stopCounting } from '../../http/connections.ts'
import { response, streamResponse, type V1 } from '../../http/operation.ts'
import { endRequestSpan } from '../../http/tracing.ts'
import type { Filter } from './chunks.ts'
import type { FindDurableEvents } from './durable.ts'
import { readableTypes, readEvents, readEventsOfPet, readNewestEvents, readStart } from './feed.ts'
import { writePosition } from './format.ts'
import {
  EVENT_SCHEMAS,
  EVENTS_LIMIT_DEFAULT,
  EventsSchema,
  type EventType,
  ListEventsQuery,
  STREAM_TYPE,
  StreamEventsHeaders,
  StreamEventsQuery,
} from './schema.ts'
import { type EventStreams, KEEP_ALIVE_EVERY_MS } from './streams.ts'

const STREAM_DESCRIPTION = `Sends every change to pets and orders as it happens, as Server-Sent Events. The \`id\` of an event is its position, its
\`event\` the type, and its \`data\` an \`Event\` as JSON. If the connection ends, send the last \`id\` as \`Last-Event-ID\` to
continue without a skipped or repeated event. An \`id\` without data is only a newer position. A comment follows every
${KEEP_ALIVE_EVERY_MS / 1_000} seconds without events. The service ends a stream when it shuts down, when the key is revoked or expires, and
when the client stops reading.`
const STREAM_EXAMPLE = `id: 3f1c9a52be07-19
event: pet.deleted
data: {"position":"3f1c9a52be07-19","type":"pet.deleted","occurredAt":"2026-11-15T10:00:01.000Z","petId":42}

`
/** nginx buffers responses without the header `X-Accel-Buffering`. */
const STREAM_HEADERS = { 'content-type': STREAM_TYPE, 'x-accel-buffering': 'no' }

interface EventServices {
  db: Db
  findEvents: FindDurableEvents
  eventStreams: EventStreams
  publicUrl: string
}

function listEventsRoute(app: V1, services: EventServices): void {
  const { findEvents, publicUrl } = services
  app.route({
    method: 'GET',
    url: '/events',
    config: { scope: 'events:read', showsHolds: false, errors: ['events_expired'] },
    schema: {
      operationId: 'listEvents',
      summary: 'List events',
      description:
        'Returns every change to pets and orders, oldest first, for example to mirror the catalogue. The feed has no end: follow the `Link` header, and wait a moment if a page is empty. A page that is not empty can have fewer events than `limit` although more follow: it ends when its events take about 1 MiB.',
      tags: ['events'],
      querystring: ListEventsQuery,
      response: {
        200: response(EventsSchema, {
          description: 'The events after the position.',
          example: [
            {
              position: '3f1c9a52be07-18',
              type: 'pet.updated',
              occurredAt: '2026-11-15T10:00:00.000Z',
              petId: 42,
              pet: { id: 42, name: 'Biscuit', categoryId: 1, status: 'pending' },
              changed: ['status'],
              actor: 'web-shop',
              requestId: '8e03978e-40d5-43e8-bc93-6894a57f9324',
            },
          ],
          headers: { Link: 'URL of the events that follow this page: `<…>; rel="next"`. Always present.' },
        }),
      },
    },
    handler: async (request, reply) => {
      const { after, newest, type, petId, limit } = request.query
      const options = {
        ...readFilter(request.caller as Caller, type),
        limit: limit ?? EVENTS_LIMIT_DEFAULT,
        maxBytes: PAGE_BYTES_MAX,
      }
      const { events, next } =
        newest !== undefined
          ? await readNewestEvents(services, newest, options)
          : petId !== undefined
            ? await readEventsOfPet(findEvents, readStart(after), petId, options)
            : await readEvents(findEvents, readStart(after), options)
      const query = new URLSearchParams({ after: writePosition(next) })
      for (const wanted of type ?? []) query.append('type', wanted)
      if (petId !== undefined) query.set('petId', String(petId))
      if (limit !== undefined) query.set('limit', String(limit))
      reply.header('link', `<${publicUrl}/v1/events?${query}>; rel="next"`)
      return events
    },
  })
}

function streamEventsRoute(app: V1, { findEvents, eventStreams }: EventServices): void {
  app.route({
    method: 'GET',
    url: '/events/stream',
    config: {
      scope: 'events:read',
      showsHolds: false,
      errors: ['events_expired', 'rate_limited', 'overloaded'],
      isStream: true,
    },
    schema: {
      operationId: 'streamEvents',
      summary: 'Stream events',
      description: STREAM_DESCRIPTION,
      tags: ['events'],
      querystring: StreamEventsQuery,
      headers: StreamEventsHeaders,
      response: { 200: streamResponse('Events, from the position on.', STREAM_TYPE, STREAM_EXAMPLE) },
    },
    handler: async (request, reply) => {
      const { after, type } = request.query
      const { 'last-event-id': lastEventId } = request.headers
      const filter = readFilter(request.caller as Caller, type)
      const start = lastEventId === undefined ? readStart(after) : readStart(lastEventId, 'last-event-id')
      if (request.method === 'HEAD') {
        await readEvents(findEvents, start, { ...filter, limit: 1, maxBytes: PAGE_BYTES_MAX })
        return reply.type(STREAM_TYPE).send('')
      }
      await eventStreams.open((request.caller as Caller).id, start, filter, () => {
        // The response timeout may already have sent a response.
        if (reply.sent) return undefined
        reply.hijack()
        stopCounting(app.server, reply.raw)
        if (!reply.raw.closed)
          reply.raw.writeHead(200, { ...reply.getHeaders(), ...STREAM_HEADERS } as OutgoingHttpHeaders)
        // A stream can last for days, and a span is exported only when it ends.
        endRequestSpan(request, reply)
        return reply.raw
      })
      return reply
    },
  })
}

/** Rejects a request for events that the caller cannot read (403). */
function readFilter(caller: Caller, wanted: readonly EventType[] | undefined): Filter {
  const readable = readableTypes(caller)
  if (wanted?.some((type) => !readable.includes(type))) throw insufficientScope('orders:read')
  return {
    types: readable.filter((type) => wanted?.includes(type) ?? true),
    showActors: caller.scopes.includes('orders:read'),
  }
}

export const EVENTS = { schemas: EVENT_SCHEMAS, operations: [listEventsRoute, streamEventsRoute] }
