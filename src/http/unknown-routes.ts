// Rejects requests without a route: 405 with Allow if the path has other methods, otherwise 404.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

interface KnownPath {
  pattern: RegExp
  methods: Set<string>
}

/** Call this before the routes of `app` are added, because it records each of them, and after hooks that must run first. */
export function rejectUnknownRoutes(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>()

  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: toPattern(url), methods: new Set() }
    for (const name of [method].flat()) known.methods.add(name)
    paths.set(url, known)
  })

  function rejection(request: FastifyRequest): AppError {
    const [path = ''] = request.url.split('?', 1)
    const known = paths.values().find(({ pattern }) => pattern.test(path))
    if (known === undefined) return new AppError('route_not_found')
    return new AppError('method_not_allowed', { headers: { allow: [...known.methods].sort().join(', ') } })
  }

  // A hook runs before the body is parsed. The not-found handler runs only if the body has a supported type.
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
