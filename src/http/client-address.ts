// The address of a client: that of the connection or, behind a proxy in TRUST_PROXY, the one that the proxy forwards.
import type { FastifyRequest } from 'fastify'
import { isAddress, withoutMapping } from '../ip-address.ts'

/** Empty once the connection is lost, unless its address was read before. */
export function clientAddress(request: FastifyRequest): string {
  // A trusted proxy may still forward text that is no address, such as `unknown`.
  return withoutMapping(isAddress(request.ip) ? request.ip : (request.raw.socket.remoteAddress ?? ''))
}
