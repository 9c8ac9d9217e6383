// Reads the headers `Accept` and `Accept-Encoding`, and tells caches that a response depends on them.
import type { FastifyReply } from 'fastify'

/** Whether the header contains this name itself, not only an asterisk, with a quality above 0. */
export function isNamed(header: string | string[] | undefined, name: string): boolean {
  const parts = [header ?? ''].flat().join().toLowerCase().split(',')
  return parts.some((part) => {
    const [own, ...parameters] = part.split(';').map((text) => text.trim())
    const quality = parameters.find((text) => text.startsWith('q='))?.slice('q='.length) ?? 1
    return own === name && Number(quality) > 0
  })
}

/** Adds the name to the header `Vary`. Keeps `Origin` if CORS has set it. */
export function varyBy(reply: FastifyReply, name: string): void {
  reply.header('vary', [reply.getHeader('vary'), name].filter(Boolean).join(', '))
}
