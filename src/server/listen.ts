// Opens a port. If the port cannot be opened, the error names the setting to change and says what to do.
import type { FastifyInstance, FastifyListenOptions } from 'fastify'

class ListenError extends Error {}

export interface Listener {
  hostSetting: 'HOST' | 'ADMIN_HOST'
  portSetting: 'PORT' | 'ADMIN_PORT'
  host: string
  port: number
}

export async function listen(
  app: FastifyInstance,
  listener: Listener,
  options: FastifyListenOptions = {},
): Promise<void> {
  try {
    await app.listen({ ...options, host: listener.host, port: listener.port })
  } catch (error) {
    throw new ListenError(explainListenFailure(error as NodeJS.ErrnoException, listener), { cause: error })
  }
}

/** Opens the admin port. */
export async function listenAdmin(
  admin: FastifyInstance,
  config: { ADMIN_HOST: string; ADMIN_PORT: number },
): Promise<void> {
  await listen(admin, {
    hostSetting: 'ADMIN_HOST',
    portSetting: 'ADMIN_PORT',
    host: config.ADMIN_HOST,
    port: config.ADMIN_PORT,
  })
}

/** For each error code of the operating system: a message that says what is wrong and what to do. */
const FAILURES: Record<string, (listener: Listener) => string> = {
  EADDRINUSE: ({ portSetting, host, port }) =>
    `${portSetting}: port ${port} on ${host} is in use by another program (EADDRINUSE).\n` +
    `Stop that program, or set ${portSetting} to a free port.`,
  EACCES: ({ portSetting, port }) =>
    `${portSetting}: the user of this process is not permitted to open port ${port} (EACCES).\n` +
    `Set ${portSetting} to 1024 or higher, or give the process the capability CAP_NET_BIND_SERVICE.`,
  EADDRNOTAVAIL: otherHostAddress,
  EAFNOSUPPORT: otherHostAddress,
  ENOTFOUND: unknownName,
  EAI_AGAIN: unknownName,
}

function otherHostAddress({ hostSetting, host }: Listener): string {
  return (
    `${hostSetting}: ${host} is not an address of this host.\n` +
    `Set ${hostSetting} to one of its addresses, such as 127.0.0.1, or to 0.0.0.0 for all of them.`
  )
}

function unknownName({ hostSetting, host }: Listener): string {
  return (
    `${hostSetting}: the name ${host} does not resolve to an address.\n` +
    `Set ${hostSetting} to an address of this host, such as 127.0.0.1.`
  )
}

export function explainListenFailure(error: NodeJS.ErrnoException, listener: Listener): string {
  const { hostSetting, portSetting, host, port } = listener
  return (
    FAILURES[error.code ?? '']?.(listener) ??
    `The service cannot listen on ${host}, port ${port}: ${error.message}.\nCheck ${hostSetting} and ${portSetting}.`
  )
}
