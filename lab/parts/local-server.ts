// An HTTP or HTTPS server on a free loopback port.
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface LocalServer {
  origin: string
  port: number
  /** Closes all connections. A second call does nothing. */
  close: () => Promise<void>
}

export interface LocalServerOptions {
  host?: string
  /** Default: a free port. */
  port?: number
  /** The server uses HTTPS if it is given, as PEM. */
  certificate?: { key: string; cert: string } | undefined
}

export async function openLocalServer(
  listener: RequestListener,
  { host = '127.0.0.1', port: wantedPort = 0, certificate }: LocalServerOptions = {},
): Promise<LocalServer> {
  const server = certificate ? createHttpsServer(certificate, listener) : createHttpServer(listener)
  await once(server.listen(wantedPort, host), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `${certificate ? 'https' : 'http'}://${host}:${port}`,
    port,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
