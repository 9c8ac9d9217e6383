// Records responses of the service for bare-server.ts, and checks that the other servers return the same data. Without
// this check, a server could win by sending less.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { writeCursor } from '../../src/contract/paging.ts'

interface Recording {
  /** Names and values in turn, as Node's writeHead accepts them. */
  headers: string[]
  body: string
}

export interface Recordings {
  list: Recording
  get: Recording
  keepAliveTimeoutMs: number
}

interface Response {
  rawHeaders: string[]
  headers: IncomingMessage['headers']
  body: string
}

/** Node adds these headers to every response. */
const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive'])
/** Differs between two responses of the same server, in its value but not in its length. */
const CHANGING = new Set(['date', 'x-request-id'])

const LIST = '/v1/pets?status=available'
/** An id with as many digits as most ids of the benchmark. */
const getPath = (pets: number) => `/v1/pets/${Math.max(1, pets - 1)}`

export async function recordResponses(origin: string, apiKey: string, pets: number): Promise<Recordings> {
  const [list, pet] = [await fetchFrom(origin, LIST, apiKey), await fetchFrom(origin, getPath(pets), apiKey)]
  const seconds = /timeout=(\d+)/.exec(list.headers['keep-alive']?.toString() ?? '')?.[1]
  return { list: record(list), get: record(pet), keepAliveTimeoutMs: Number(seconds ?? 5) * 1000 }
}

function record({ rawHeaders, body }: Response): Recording {
  const headers = pairsOf(rawHeaders).filter(([name]) => !ADDED_BY_NODE.has(name.toLowerCase()))
  return { headers: headers.flat(), body }
}

/** Fails if a response of the bare server differs from that of the service in any header or byte. */
export async function requireSameResponses(
  service: string,
  bare: string,
  apiKey: string,
  pets: number,
): Promise<void> {
  for (const path of [LIST, getPath(pets)]) {
    const [expected, sent] = [await fetchFrom(service, path, apiKey), await fetchFrom(bare, path, apiKey)]
    const comparable = ({ rawHeaders, body }: Response) => {
      const headers = pairsOf(rawHeaders).map(([name, value]) => {
        const lowerCase = name.toLowerCase()
        return `${lowerCase}: ${CHANGING.has(lowerCase) ? value.length : value}`
      })
      return JSON.stringify([headers.sort(), body])
    }
    if (comparable(expected) !== comparable(sent)) {
      throw new Error(
        `the bare server does not return the response of the service to ${path}:\n${comparable(expected)}\n${comparable(sent)}`,
      )
    }
  }
}

/** Fails if a peer returns other pets, other ETags or other links to the next page than the service. */
export async function requireSameData(
  service: string,
  peer: string,
  apiKey: string,
  pets: number,
): Promise<void> {
  const cursor = writeCursor({ id: BigInt(Math.ceil(pets / 2)), sortKey: '' }, { status: 'available' })
  for (const path of [LIST, `${LIST}&cursor=${cursor}`, getPath(pets)]) {
    const [expected, sent] = [await fetchFrom(service, path, apiKey), await fetchFrom(peer, path, apiKey)]
    const nextPage = ({ headers }: Response) => /<[^>]+>; rel="next"/.exec(String(headers.link))?.[0]
    const comparable = (response: Response) =>
      JSON.stringify([
        response.body,
        response.headers.etag,
        nextPage(response),
        response.headers['content-type'],
      ])
    if (comparable(expected) !== comparable(sent)) {
      throw new Error(
        `a peer does not return the data of the service for ${path}:\n${comparable(expected)}\n${comparable(sent)}`,
      )
    }
  }
}

function pairsOf(rawHeaders: string[]): [name: string, value: string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  )
}

async function fetchFrom(origin: string, path: string, apiKey: string): Promise<Response> {
  const request = get(origin + path, { headers: { authorization: `Bearer ${apiKey}` } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const body = await text(response)
  if (response.statusCode !== 200)
    throw new Error(`${origin}${path} returned ${response.statusCode}: ${body}`)
  return { rawHeaders: response.rawHeaders, headers: response.headers, body }
}
