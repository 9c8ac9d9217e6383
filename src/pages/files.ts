// Files that are the same for everybody: made and compressed once, and not sent again to whoever has them.
import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The address changes with the content, so a browser need never ask again. */
export const KEPT_FOR_EVER = 'public, max-age=31536000, immutable'
/** Kept, and asked about each time. */
export const KEPT_AND_CHECKED = 'no-cache'

export interface PageFile {
  type: string
  bytes: Uint8Array
  gzipped: Uint8Array
  etag: string
}

export function pageFile(type: string, content: string | Uint8Array, gzipped?: Uint8Array): PageFile {
  const bytes = Buffer.from(content)
  // Weak, since it stands for the compressed bytes as well.
  return { type, bytes, gzipped: gzipped ?? gzipSync(bytes), etag: `W/"${digest(bytes)}"` }
}

export function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64url').slice(0, 16)
}

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  cacheControl: string,
): FastifyReply {
  const { 'if-none-match': known, 'accept-encoding': encodings } = request.headers
  reply.headers({ 'cache-control': cacheControl, etag: file.etag, vary: varyWith(reply, 'Accept-Encoding') })
  if (isKnown(known, file.etag)) return reply.code(304).send()
  reply.type(file.type)
  if (!acceptsGzip(encodings)) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzipped)
}

/** CORS may have said `Origin` already. */
function varyWith(reply: FastifyReply, name: string): string {
  return [reply.getHeader('vary'), name].filter(Boolean).join(', ')
}

/** If-None-Match compares weakly (RFC 9110). */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag))
}

function acceptsGzip(header: string | string[] | undefined = ''): boolean {
  const named = [header].flat().join().toLowerCase().split(',')
  return named.some((part) => {
    const [coding = '', quality = 'q=1'] = part.split(';').map((text) => text.trim())
    return coding === 'gzip' && Number(quality.replace(/^q=/, '')) > 0
  })
}
