// The header `Allow` of 405 for paths that several routes match.
import fastify from 'fastify'
import { expect, test } from 'vitest'
import type { AppError } from '../../src/contract/errors.ts'
import { rejectUnknownRoutes } from '../../src/http/unknown-routes.ts'

test('405 names the methods of the path without parameters, also if the one with parameters was added first', async () => {
  const app = fastify()
  app.setErrorHandler((error: AppError, _request, reply) =>
    reply.code(error.status).headers(error.headers).send(),
  )
  await app.register((v1, _options, done) => {
    rejectUnknownRoutes(v1)
    v1.delete('/pets/:petId', async () => 'deleted')
    v1.get('/pets/count', async () => 'counted')
    done()
  })
  const allowed = async (url: string) => (await app.inject({ method: 'POST', url })).headers['allow']
  expect(await allowed('/pets/count')).toBe('GET, HEAD')
  expect(await allowed('/pets/count?x=1')).toBe('GET, HEAD')
  expect(await allowed('/pets/7')).toBe('DELETE')
})
