// Resets the connection of a client that stops reading its response. Otherwise, the request would stay in flight and
// take memory. A slow client that continues to read keeps its connection.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** A connection is reset if bytes wait for its client and the client accepts none of them for this long. */
export const STALLED_AFTER_MS = 10_000
/** Number of checks within the timeout. Elapsed time is not used, because the process itself may have been blocked. */
const CHECKS_MAX = 10

/** One timer serves all connections, without work per request. Checking 2,000 connections takes at most 0.2 ms. */
export function resetStalledConnections(server: Server, stalledAfterMs: number): void {
  /** `accepted`: progress at the last check, undefined if no bytes were waiting. `checks`: checks without progress. */
  const connections = new Map<Socket, { accepted: number | undefined; checks: number }>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { accepted: undefined, checks: 0 })
    socket.once('close', () => connections.delete(socket))
  })

  function check(): void {
    for (const [socket, last] of connections) {
      const accepted = socket.writableLength === 0 ? undefined : acceptedBytes(socket)
      const isStalled = accepted !== undefined && accepted === last.accepted
      last.accepted = accepted
      last.checks = isStalled ? last.checks + 1 : 0
      if (last.checks >= CHECKS_MAX) socket.resetAndDestroy()
    }
  }

  let timer: NodeJS.Timeout | undefined
  server.once('listening', () => {
    timer = setInterval(check, stalledAfterMs / CHECKS_MAX).unref()
  })
  server.once('close', () => clearInterval(timer))
}

/**
 * A measure of progress while bytes are waiting. It changes when the client accepts bytes, but not when the service
 * writes more: a client that does not read is stalled, even if the service keeps writing. `bytesWritten` minus
 * `writableLength` changes only when a write is complete. `writeQueueSize`, which Node's socket timeout also uses,
 * shows progress within a write.
 */
export function acceptedBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0)
}
