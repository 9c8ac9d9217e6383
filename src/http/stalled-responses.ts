// Resets the connection of a client that stops reading its response. Otherwise, the request would stay in flight and
// take memory. A slow client that continues to read keeps its connection.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionsOf } from './connections.ts'

/** A connection is reset if bytes wait for its client and the client accepts none of them for this long. */
export const STALLED_AFTER_MS = 10_000
/** Number of checks within the timeout. Elapsed time is not used, because the process itself may have been blocked. */
const CHECKS_MAX = 10

/** One timer serves all connections, without work per request. Checking 2,000 connections takes at most 0.2 ms. */
export function resetStalledConnections(server: Server, stalledAfterMs: number): void {
  const { open } = connectionsOf(server)

  function check(): void {
    for (const connection of open) {
      const { socket } = connection
      const accepted = socket.writableLength === 0 ? undefined : acceptedBytes(socket)
      const isStalled = accepted !== undefined && accepted === connection.acceptedAtLastCheck
      connection.acceptedAtLastCheck = accepted
      connection.stalledChecks = isStalled ? connection.stalledChecks + 1 : 0
      if (connection.stalledChecks >= CHECKS_MAX) socket.resetAndDestroy()
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
