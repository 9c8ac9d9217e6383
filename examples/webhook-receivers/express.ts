// Receives webhooks of Petstore with Express. README.md explains how to run it.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { verifyWebhook, WebhookVerificationError } from '@petstore/client/webhooks'
import { type Handler, onceById, printEvent, readSecrets } from './handling.ts'

const BODY_BYTES_MAX = 65_536

export function buildReceiver(secrets: readonly string[], handle: Handler): Express {
  const handleOnce = onceById(handle)
  const app = express()

  // The signature covers the bytes of the body: do not use express.json() before this route.
  const rawBody = express.raw({ type: 'application/json', limit: BODY_BYTES_MAX, inflate: false })

  app.post('/hook', rawBody, async (request, response) => {
    await handleOnce(await verifyWebhook(request.body as Buffer, request.headers, secrets))
    response.status(204).end()
  })

  const onError: ErrorRequestHandler = (error, _request, response, next) => {
    if (!(error instanceof WebhookVerificationError)) return next(error)
    console.error(`${error.code}: ${error.message}`)
    response.status(400).json({ code: error.code })
  }
  app.use(onError)
  return app
}

if (import.meta.main) {
  const { WEBHOOK_SECRETS, PORT = '4000' } = process.env
  const server = buildReceiver(readSecrets(WEBHOOK_SECRETS), printEvent).listen(Number(PORT), 'localhost')
  await once(server, 'listening')
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`)
}
