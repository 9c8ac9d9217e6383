// The open connections of a server and its requests in flight, in one place for all that limits, checks or closes them:
// overload.ts, stalled-responses.ts, stop-listening.ts, and the responses to malformed HTTP in errors.ts.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Connection {
  readonly socket: Socket
  /** The last request; undefined before the first one. Malformed bytes belong to this request or follow it. */
  request: IncomingMessage | undefined
  /** The response to the last request. */
  response: ServerResponse | undefined
  /** The bytes that the client had accepted at the last check of stalled-responses.ts; undefined if none were waiting. */
  acceptedAtLastCheck: number | undefined
  /** Number of checks in a row in which the client accepted none of the waiting bytes. */
  stalledChecks: number
}

export interface Connections {
  readonly open: ReadonlySet<Connection>
  /** How many connections were ever opened, including those that are closed now. */
  openedCount: number
  /** Requests in flight, including `writesInFlight`. */
  inFlight: number
  writesInFlight: number
  /**
   * The listeners for `close` of responses that are counted: `endRead` for reads, `endWrite` for writes. All responses
   * share them. A response that has neither is not counted.
   */
  readonly endRead: () => void
  readonly endWrite: () => void
}

// Not passed as arguments: routes have only the server of Fastify, and a handler of malformed HTTP has only the socket.
const byServer = new WeakMap<Server, Connections>()
const bySocket = new WeakMap<Socket, Connection>()

/** Returns the connections of the server. The first call starts to track them, so it must precede `listen`. */
export function connectionsOf(server: Server): Connections {
  const tracked = byServer.get(server)
  if (tracked !== undefined) return tracked
  const open = new Set<Connection>()
  const connections: Connections = {
    open,
    openedCount: 0,
    inFlight: 0,
    writesInFlight: 0,
    endRead: () => {
      connections.inFlight -= 1
    },
    endWrite: () => {
      connections.inFlight -= 1
      connections.writesInFlight -= 1
    },
  }
  byServer.set(server, connections)
  server.on('connection', (socket: Socket) => {
    const connection = {
      socket,
      request: undefined,
      response: undefined,
      acceptedAtLastCheck: undefined,
      stalledChecks: 0,
    }
    connections.openedCount += 1
    open.add(connection)
    bySocket.set(socket, connection)
    socket.once('close', () => open.delete(connection))
  })
  return connections
}

/** Returns undefined if no server tracks the connection, such as that of the admin port. */
export function connectionOf(socket: Socket): Connection | undefined {
  return bySocket.get(socket)
}

/** Records the request as the last one of its connection. */
export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  const connection = bySocket.get(request.socket)
  if (connection === undefined) return
  connection.request = request
  connection.response = response
}

/** Counts a request until its response closes. The event also fires if the client closes the connection first. */
export function countRequest(connections: Connections, response: ServerResponse, isWrite: boolean): void {
  connections.inFlight += 1
  if (isWrite) connections.writesInFlight += 1
  response.on('close', isWrite ? connections.endWrite : connections.endRead)
}

/** Ends the count of a read before its response closes, because it is a stream. Does nothing if it is not counted. */
export function stopCounting(server: Server, response: ServerResponse): void {
  const { endRead } = connectionsOf(server)
  const isCounted = response.listeners('close').includes(endRead)
  if (!isCounted) return
  response.off('close', endRead)
  endRead()
}
