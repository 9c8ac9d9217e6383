// The IP address of a client: the address of its connection or, behind a proxy in TRUST_PROXY, the forwarded address.
import type { FastifyRequest } from 'fastify'
import { isAddress, withoutMapping } from '../values/ip-address.ts'

/** Returns an empty string if the connection is lost and its address was not read before. */
export function clientAddress(request: FastifyRequest): string {
  // A trusted proxy can forward text that is not an address, such as `unknown`.
  return withoutMapping(isAddress(request.ip) ? request.ip : (request.raw.socket.remoteAddress ?? ''))
}
