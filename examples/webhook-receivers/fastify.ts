// Receives webhooks of Petstore with Fastify. README.md explains how to run it.
import Fastify, { type FastifyInstance } from 'fastify'
import { verifyWebhook, WebhookVerificationError } from '@petstore/client/webhooks'
import { type Handler, onceById, printEvent, readSecrets } from './handling.ts'

const BODY_BYTES_MAX = 65_536

export function buildReceiver(secrets: readonly string[], handle: Handler): FastifyInstance {
  const handleOnce = onceById(handle)
  const app = Fastify({ bodyLimit: BODY_BYTES_MAX })

  // The signature covers the bytes of the body, so Fastify must not parse it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

  app.post<{ Body: Buffer }>('/hook', async (request, reply) => {
    await handleOnce(await verifyWebhook(request.body, request.headers, secrets))
    return reply.code(204).send()
  })

  app.setErrorHandler((error, _, reply) => {
    if (!(error instanceof WebhookVerificationError)) return reply.send(error)
    console.error(`${error.code}: ${error.message}`)
    return reply.code(400).send({ code: error.code })
  })
  return app
}

if (import.meta.main) {
  const { WEBHOOK_SECRETS, PORT = '4000' } = process.env
  const app = buildReceiver(readSecrets(WEBHOOK_SECRETS), printEvent)
  console.log(`Listening on ${await app.listen({ port: Number(PORT) })}`)
}
