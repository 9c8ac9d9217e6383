// An OpenTelemetry collector for tests: an HTTP server on loopback that decodes the spans that it receives (OTLP, protobuf).
// The numbers of the fields are those of opentelemetry/proto/trace/v1/trace.proto.
import type { IncomingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect } from 'vitest'
import type { Certificate } from '../../lab/parts/certificate.ts'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { type Field, readFields } from './protobuf.ts'

type Attributes = Record<string, string | number | boolean>

export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty without a parent. */
  parentId: string
  traceState: string
  name: string
  kind: 'internal' | 'server' | 'client'
  /** Nanoseconds since 1970. */
  start: bigint
  end: bigint
  attributes: Attributes
  links: { traceId: string; spanId: string }[]
  status: 'unset' | 'ok' | 'error'
  statusMessage: string
  resource: Attributes
  scope: string
}

export interface OtlpReceiver {
  url: string
  port: number
  spans: ReceivedSpan[]
  /** The headers and the path of each export. */
  exports: { path: string; headers: IncomingHttpHeaders; spans: number }[]
  /** Chooses the status of the responses from now on. Default: 200. */
  respond: (status: number) => void
  /** Waits until the condition is true. */
  until: (condition: (spans: ReceivedSpan[]) => boolean) => Promise<void>
}

const KINDS = ['internal', 'internal', 'server', 'client'] as const
const STATUSES = ['unset', 'ok', 'error'] as const

/** @param certificate The receiver uses HTTPS if it is given. */
export async function openOtlpReceiver(certificate?: Certificate): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const exports: OtlpReceiver['exports'] = []
  let status = 200
  const { origin, port, close } = await openLocalServer(
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks)
        const isCompressed = request.headers['content-encoding'] === 'gzip'
        const received = decodeExport(isCompressed ? gunzipSync(body) : body)
        if (status === 200) spans.push(...received)
        exports.push({ path: request.url ?? '', headers: request.headers, spans: received.length })
        response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
      })
    },
    { certificate },
  )
  afterAll(close)
  return {
    url: origin,
    port,
    spans,
    exports,
    respond: (next) => {
      status = next
    },
    until: async (condition) => {
      await expect.poll(() => condition(spans)).toBe(true)
    },
  }
}

const each = (fields: Map<number, Field[]>, number: number) =>
  (fields.get(number) ?? []).map(({ bytes }) => readFields(bytes))
const hex = (fields: Map<number, Field[]>, number: number) =>
  fields.get(number)?.[0]?.bytes.toString('hex') ?? ''
const text = (fields: Map<number, Field[]>, number: number) => fields.get(number)?.[0]?.bytes.toString() ?? ''
const integer = (fields: Map<number, Field[]>, number: number) => fields.get(number)?.[0]?.number ?? 0n

function decodeExport(body: Buffer): ReceivedSpan[] {
  return each(readFields(body), 1).flatMap((resourceSpans) => {
    const [resource] = each(resourceSpans, 1)
    return each(resourceSpans, 2).flatMap((scopeSpans) => {
      const [scope] = each(scopeSpans, 1)
      return each(scopeSpans, 2).map((span) => ({
        ...decodeSpan(span),
        resource: resource ? decodeAttributes(resource, 1) : {},
        scope: scope ? text(scope, 1) : '',
      }))
    })
  })
}

function decodeSpan(span: Map<number, Field[]>): Omit<ReceivedSpan, 'resource' | 'scope'> {
  const [status] = each(span, 15)
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    traceState: text(span, 3),
    parentId: hex(span, 4),
    name: text(span, 5),
    kind: KINDS[Number(integer(span, 6))] ?? 'internal',
    start: integer(span, 7),
    end: integer(span, 8),
    attributes: decodeAttributes(span, 9),
    links: each(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    status: STATUSES[Number(status ? integer(status, 3) : 0n)] ?? 'unset',
    statusMessage: status ? text(status, 2) : '',
  }
}

function decodeAttributes(message: Map<number, Field[]>, number: number): Attributes {
  return Object.fromEntries(
    each(message, number).map((attribute) => {
      const [value = new Map<number, Field[]>()] = each(attribute, 2)
      return [text(attribute, 1), decodeValue(value)]
    }),
  )
}

/** Texts, booleans, integers and floating-point numbers; Petstore uses no other values. */
function decodeValue(value: Map<number, Field[]>): string | number | boolean {
  if (value.has(1)) return text(value, 1)
  if (value.has(2)) return integer(value, 2) === 1n
  if (value.has(3)) return Number(integer(value, 3))
  return value.get(4)?.[0]?.bytes.readDoubleLE() ?? Number.NaN
}
