// Static files: compressed once, and sent with ETags, so that browsers do not download unchanged files again.
import { isKnownTag } from '../http/etag.ts'
import { hash } from 'node:crypto'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isNamed, varyBy } from '../http/accepted.ts'

/** The files of `npm run build`. */
export const BUILT_FOLDER = resolve(import.meta.dirname, '../../console/dist')

/** For files whose address changes with their content. Browsers never revalidate them. */
export const CACHED_FOREVER = 'public, max-age=31536000, immutable'
/** Browsers store the file and revalidate it before each use. */
export const CACHED_AND_REVALIDATED = 'no-cache'

export interface PageFile {
  type: string
  bytes: Uint8Array
  /** Compresses the file on the first call. Absent if the file is compressed itself. */
  gzipped?: () => Uint8Array
  /** Compressed with Brotli by the build. */
  brotli?: Uint8Array | undefined
  etag: string
}

interface Compressed {
  gzipped?: Uint8Array | undefined
  brotli?: Uint8Array | undefined
}

export function pageFile(type: string, content: string | Uint8Array, known: Compressed = {}): PageFile {
  const bytes = Buffer.from(content)
  let { gzipped } = known
  return {
    type,
    bytes,
    gzipped: () => (gzipped ??= gzipSync(bytes)),
    brotli: known.brotli,
    // Weak, because it identifies the uncompressed and the compressed bytes.
    etag: `W/"${digest(bytes)}"`,
  }
}

/** An archive, which is sent as it is. */
export function archiveFile(bytes: Uint8Array): PageFile {
  return { type: 'application/gzip', bytes, etag: `"${digest(bytes)}"` }
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
  const { 'if-none-match': ifNoneMatch, 'accept-encoding': encodings } = request.headers
  reply.headers({ 'cache-control': cacheControl, etag: file.etag })
  if (file.gzipped !== undefined) varyBy(reply, 'Accept-Encoding')
  if (isKnownTag(ifNoneMatch, file.etag)) return reply.code(304).send()
  reply.type(file.type)
  if (file.brotli !== undefined && isNamed(encodings, 'br'))
    return reply.header('content-encoding', 'br').send(file.brotli)
  if (file.gzipped === undefined || !isNamed(encodings, 'gzip')) return reply.send(file.bytes)
  return reply.header('content-encoding', 'gzip').send(file.gzipped())
}
