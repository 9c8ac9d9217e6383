// Loaded into a service by NODE_OPTIONS. Writes the OpenTelemetry packages that the process loads, and the addresses that it
// connects to, into the file RECORD_FILE, one per line.
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import type { Socket } from 'node:net'

const file = process.env['RECORD_FILE'] ?? ''

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    const name = /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(resolved.url)?.[1]
    if (name !== undefined) appendFileSync(file, `loaded ${name}\n`)
    return resolved
  },
})

subscribe('net.client.socket', (message) => {
  const { socket } = message as { socket: Socket }
  socket.once('connect', () =>
    appendFileSync(file, `connected ${socket.remoteAddress}:${socket.remotePort}\n`),
  )
})
