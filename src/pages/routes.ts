// What stands outside /v1: documents and pages, without data and without a key.
import type { FastifyInstance } from 'fastify'
import { ERRORS_PAGE, GET_PET_PAGE, INTERFACE_DOCUMENT, REFERENCE_PAGE } from '../http/page-addresses.ts'
import { ICON, START_SCALAR, STYLE } from './assets.ts'
import { errorsPage } from './errors-page.ts'
import { KEPT_AND_CHECKED, KEPT_FOR_EVER, type PageFile, pageFile, sendFile } from './files.ts'
import { getPetPage } from './get-pet-page.ts'
import { limitPages, type PageLimits } from './limits.ts'
import { referencePage } from './reference-page.ts'
import { SCALAR_ADDRESS, scalarScript } from './scalar.ts'
import { JSON_TYPE, PAGE_HEADERS, REFERENCE_HEADERS } from '../http/security-headers.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'

const HTML = 'text/html; charset=utf-8'

export async function pageRoutes(app: FastifyInstance, limits: PageLimits): Promise<void> {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(PAGE_HEADERS)
    done()
  })
  limitPages(app, limits)
  rejectUnknownRoutes(app)

  const serve = (
    address: string,
    cacheControl: string,
    file: () => PageFile | Promise<PageFile>,
    headers: Record<string, string> = {},
  ) =>
    app.get(address, { schema: { hide: true } }, async (request, reply) =>
      sendFile(request, reply.headers(headers), await file(), cacheControl),
    )

  // The document is whole when every route is there, and that is after this.
  let document: PageFile | undefined
  serve(INTERFACE_DOCUMENT, KEPT_AND_CHECKED, () => {
    document ??= pageFile(JSON_TYPE, JSON.stringify(app.swagger()))
    return document
  })

  const reference = pageFile(HTML, referencePage())
  serve(REFERENCE_PAGE, KEPT_AND_CHECKED, () => reference, REFERENCE_HEADERS)
  const errors = pageFile(HTML, errorsPage())
  serve(ERRORS_PAGE, KEPT_AND_CHECKED, () => errors)
  const getPet = pageFile(HTML, getPetPage())
  serve(GET_PET_PAGE, KEPT_AND_CHECKED, () => getPet)

  for (const { address, file } of [STYLE, ICON, START_SCALAR]) serve(address, KEPT_FOR_EVER, () => file)
  serve(SCALAR_ADDRESS, KEPT_FOR_EVER, scalarScript)
}
