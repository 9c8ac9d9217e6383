// What stands where no route does: 405 with Allow when the address has other methods, else 404.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

interface Address {
  pattern: RegExp
  methods: Set<string>
}

/** To be called before the routes of an application part are added: it takes note of each. */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  const addresses = new Map<string, Address>()

  app.addHook('onRoute', ({ url, method }) => {
    // The preflight's route stands everywhere and names no address.
    if (url === '*') return
    const address = addresses.get(url) ?? { pattern: toPattern(url), methods: new Set() }
    for (const name of [method].flat()) address.methods.add(name)
    addresses.set(url, address)
  })

  app.setNotFoundHandler(async (request: FastifyRequest) => {
    const [path = ''] = request.url.split('?', 1)
    const address = addresses.values().find(({ pattern }) => pattern.test(path))
    if (address === undefined) throw new AppError('route_not_found')
    throw new AppError('method_not_allowed', { headers: { allow: [...address.methods].sort().join(', ') } })
  })
}

function toPattern(url: string): RegExp {
  return new RegExp(`^${url.replace(/:[A-Za-z]+/g, '[^/]+')}$`)
}
