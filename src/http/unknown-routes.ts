// What stands where no route does: 405 with Allow when the address has other methods, else 404.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

interface Address {
  pattern: RegExp
  methods: Set<string>
}

/** To be called after the hooks that come first, and before the routes of this part: it takes note of each. */
export function rejectUnknownRoutes(app: FastifyInstance): void {
  const addresses = new Map<string, Address>()

  app.addHook('onRoute', ({ url, method }) => {
    const address = addresses.get(url) ?? { pattern: toPattern(url), methods: new Set() }
    for (const name of [method].flat()) address.methods.add(name)
    addresses.set(url, address)
  })

  function rejection(request: FastifyRequest): AppError {
    const [path = ''] = request.url.split('?', 1)
    const address = addresses.values().find(({ pattern }) => pattern.test(path))
    if (address === undefined) return new AppError('route_not_found')
    return new AppError('method_not_allowed', { headers: { allow: [...address.methods].sort().join(', ') } })
  }

  // In a hook, before the body: the handler alone would be reached only with a body of the right type.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? rejection(request) : undefined)
  })
  app.setNotFoundHandler((request) => {
    throw rejection(request)
  })
}

function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]*' : RegExp.escape(part)))
  return new RegExp(`^${parts.join('/')}$`)
}
