// HTTP route of exportPets: what it accepts, returns and requires, and how it sends an export.
// Contains no SQL; pet-export.ts reads the pets.
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../contract/caller.ts'
import { AppError } from '../../contract/errors.ts'
import { describeHeaders, type V1 } from '../../http/operation.ts'
import { count } from '../../values/count-text.ts'
import type { PetTable } from '../pets/table.ts'
import { includedColumns, includeOf } from '../pets/included.ts'
import { listOf } from '../pets/pets.ts'
import type { PetExports } from './exports.ts'
import { EXPORT_FORMATS, EXPORT_PETS_MAX, MEDIA_TYPES, rowWriter } from './format.ts'
import { exportPets } from './pet-export.ts'
import { ExportPetsQuery } from './schema.ts'

interface PetExportServices {
  petTable: PetTable
  petExports: PetExports
}

const EXAMPLES = {
  csv: 'id,name,categoryId,status\n42,Biscuit,1,available\n',
  ndjson: '{"id":42,"name":"Biscuit","categoryId":1,"status":"available"}\n',
}

function exportPetsRoute(app: V1, { petTable, petExports }: PetExportServices): void {
  app.route({
    method: 'GET',
    url: '/pet-export',
    config: {
      scope: 'pets:read',
      showsHolds: true,
      errors: ['rate_limited', 'overloaded'],
      isStream: true,
    },
    schema: {
      operationId: 'exportPets',
      summary: 'Export pets',
      description: `Returns the pets that match the filters as a file, in the order of \`listPets\`, at most ${count(EXPORT_PETS_MAX)}. The export is not a snapshot: it can contain changes that were made after it started. If it fails, takes too long, or its API key is revoked or expires, the connection is reset: a response that ends normally is complete.`,
      tags: ['pets'],
      querystring: ExportPetsQuery,
      response: {
        200: {
          description: 'The pets.',
          headers: describeHeaders({ 'Content-Disposition': 'The name of the file, such as `pets.csv`.' }),
          content: Object.fromEntries(
            EXPORT_FORMATS.map((format) => [
              MEDIA_TYPES[format],
              { schema: Type.String(), examples: { example: { value: EXAMPLES[format] } } },
            ]),
          ),
        },
      },
    },
    handler: async (request, reply) => {
      const { format = 'csv', include: words = [], limit = EXPORT_PETS_MAX } = request.query
      const writer = rowWriter(format, includedColumns(words))
      const headers = {
        'content-type': `${MEDIA_TYPES[format]}; charset=utf-8`,
        'content-disposition': `attachment; filename="pets.${format}"`,
      }
      if (request.method === 'HEAD') return reply.headers(headers).send('')
      const { stop, end } = petExports.start((request.caller as Caller).id)
      try {
        const options = { pets: listOf(request.query), include: includeOf(words), limit }
        const pages = exportPets(petTable, writer, options)
        // A failure of the first page is a normal error response.
        const first = await pages.next()
        // The response timeout may already have sent a response.
        if (reply.sent) return reply
        reply.headers(headers).hijack()
        await send(request, reply, resume(first.value as string, pages), stop)
        return reply
      } finally {
        end()
      }
    },
  })
}

async function* resume(first: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* others
}

/** Sends the pages as fast as the client reads them. If that fails, resets the connection, so that the client notices it. */
async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: AsyncIterable<string>,
  stop: AbortSignal,
): Promise<void> {
  const { raw } = reply
  const closed = new AbortController()
  raw.once('close', () => closed.abort())
  if (raw.closed) return
  try {
    raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    await writeAll(raw, pages, AbortSignal.any([stop, closed.signal]))
  } catch (err) {
    if (closed.signal.aborted) return
    if (stop.aborted) {
      request.log.warn({ requestId: request.id, err: stop.reason as Error }, 'export stopped')
    } else {
      // For access-log.ts, which counts it.
      request.errorCode = err instanceof AppError ? err.code : 'internal_error'
      request.log.error({ requestId: request.id, err }, 'export failed')
    }
    raw.socket?.resetAndDestroy()
  }
}

/** Rejects as soon as `stop` is aborted, also while it reads a page. */
async function writeAll(raw: ServerResponse, pages: AsyncIterable<string>, stop: AbortSignal): Promise<void> {
  const stopped = new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason as Error), { once: true })
  })
  const writing = async () => {
    for await (const text of pages) {
      stop.throwIfAborted()
      if (!raw.write(text)) await once(raw, 'drain', { signal: stop })
    }
    raw.end()
  }
  await Promise.race([stopped, writing()])
}

export const PET_EXPORT = { schemas: [], operations: [exportPetsRoute] }
