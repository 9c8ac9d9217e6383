// HTTP route of the event feed.
// Contains no SQL; the rules are in feed.ts.
import type { Caller } from '../caller.ts'
import type { Db } from '../db/database.ts'
import { response, type V1 } from '../http/operation.ts'
import { insufficientScope } from '../http/authentication.ts'
import { readableTypes, readEvents, readStart, writePosition } from './feed.ts'
import { type Event, EVENTS_LIMIT_DEFAULT, type EventType, ListEventsQuery } from './schema.ts'

export interface EventServices {
  db: Db
  publicUrl: string
}

export function listEventsRoute(app: V1, { db, publicUrl }: EventServices): void {
  app.route({
    method: 'GET',
    url: '/events',
    config: { scope: 'events:read', errors: ['events_expired'] },
    schema: {
      operationId: 'listEvents',
      summary: 'List events',
      description:
        'Returns every change to pets and orders, oldest first, for example to mirror the catalogue. The feed has no end: follow the `Link` header, and wait a moment if a page is empty.',
      tags: ['events'],
      querystring: ListEventsQuery,
      response: {
        200: response({
          description: 'The events after the position.',
          schema: 'Events',
          example: [
            {
              position: '3f1c9a52be07-18',
              type: 'pet.updated',
              occurredAt: '2026-11-15T10:00:00.000Z',
              petId: 42,
              pet: { id: 42, name: 'Biscuit', categoryId: 1, status: 'pending' },
              changed: ['status'],
              apiKeyName: 'web-shop',
              requestId: '8e03978e-40d5-43e8-bc93-6894a57f9324',
            },
          ],
          headers: { Link: 'URL of the events that follow this page: `<…>; rel="next"`. Always present.' },
        }),
      },
    },
    handler: async (request, reply): Promise<Event[]> => {
      const { after, type, limit } = request.query
      const readable = readableTypes(request.caller as Caller)
      requireReadable(type, readable)
      const { events, next } = await readEvents(db, readStart(after), {
        types: type ?? readable,
        limit: limit ?? EVENTS_LIMIT_DEFAULT,
        showActors: (request.caller as Caller).scopes.includes('orders:read'),
      })
      const query = new URLSearchParams({ after: writePosition(next) })
      for (const wanted of type ?? []) query.append('type', wanted)
      if (limit !== undefined) query.set('limit', String(limit))
      reply.header('link', `<${publicUrl}/v1/events?${query}>; rel="next"`)
      return events
    },
  })
}

/** Rejects a request for events that the caller cannot read (403). */
function requireReadable(wanted: readonly EventType[] | undefined, readable: readonly EventType[]): void {
  if (wanted?.some((type) => !readable.includes(type))) throw insufficientScope('orders:read')
}
