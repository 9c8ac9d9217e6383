// Rejects requests that match no route: 405 with `Allow` if the path exists with other methods, otherwise 404.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../contract/errors.ts'

interface KnownPath {
  pattern: RegExp
  methods: Set<string>
}

/**
 * Call this function before you add the routes of `app`, because it records them. Call it after you add the hooks that
 * must run before a rejection.
 */
export function rejectUnknownRoutes(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>()

  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set() }
    for (const name of [method].flat()) known.methods.add(name)
    paths.set(url, known)
  })

  function rejection(request: FastifyRequest): AppError {
    const [path = ''] = request.url.split(/[?#]/, 1)
    // A path without parameters is also found by the pattern of one with them: `/v1/api-keys/self`, `/v1/api-keys/:keyId`.
    const known = paths.get(path) ?? paths.values().find(({ pattern }) => pattern.test(path))
    if (known === undefined) return new AppError('route_not_found')
    return new AppError('method_not_allowed', { headers: { allow: [...known.methods].sort().join(', ') } })
  }

  // The hook rejects requests before the body is parsed. The not-found handler runs only if the body type is supported.
  app.addHook('onRequest', (request, _reply, done) => {
    done(isUnknownRoute(request) ? rejection(request) : undefined)
  })
  app.setNotFoundHandler((request) => {
    throw rejection(request)
  })
}

/** The router also accepts an empty parameter, as in `/v1/pets/`. No resource has such a path. */
export function isUnknownRoute({ is404, params }: FastifyRequest): boolean {
  return is404 || Object.values(params as object).includes('')
}

function toPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)))
  return new RegExp(`^${parts.join('/')}$`)
}
