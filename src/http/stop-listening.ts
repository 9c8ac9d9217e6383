// Closes the port without dropping connections that clients have just opened. The close() of a Node HTTP server ends
// connections whose first request has not arrived, and the kernel resets connections that are not accepted yet.
import type { Server } from 'node:http'
import { Server as TcpServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Connections, connectionsOf } from './connections.ts'

/** Max time to wait until the accept queue is empty. */
const ACCEPTING_MAX_MS = 2_000
/** A process that gets little CPU time has few turns of the event loop in the max time. It then has at least this many. */
const ACCEPTING_MIN_TURNS = 64
/** If an event loop turn is this short and accepts nothing, the accept queue is most likely empty. */
const QUIET_TURN_MAX_MS = 0.5
/** Max time to wait until every accepted connection has sent its first request, as a number of checks for the same reason. */
const FIRST_REQUEST_CHECKS_MAX = 50
const CHECKED_EVERY_MS = 10

/** Closes the port, then waits about half a second until every connection has sent a request. */
export async function stopListening(server: Server): Promise<void> {
  const connections = connectionsOf(server)
  await acceptQueuedConnections(connections)
  TcpServer.prototype.close.call(server)
  const awaitsRequest = () => connections.open.values().some(({ request }) => request === undefined)
  for (let checks = 0; checks < FIRST_REQUEST_CHECKS_MAX && awaitsRequest(); checks += 1) {
    await sleep(CHECKED_EVERY_MS)
  }
}

/** Waits until the accept queue is empty. Node accepts one connection in each turn of the event loop. */
async function acceptQueuedConnections(connections: Connections): Promise<void> {
  const giveUpAt = performance.now() + ACCEPTING_MAX_MS
  // The current turn may already be past its accept phase.
  await nextTurn()
  let isQuiet = false
  for (let turns = 0; !isQuiet && (turns < ACCEPTING_MIN_TURNS || performance.now() < giveUpAt); turns += 1) {
    const [before, began] = [connections.openedCount, performance.now()]
    await nextTurn()
    isQuiet = connections.openedCount === before && performance.now() - began < QUIET_TURN_MAX_MS
  }
}
