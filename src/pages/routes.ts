// Routes of the HTML pages, their assets and openapi.json. They need no API key.
import type { FastifyInstance } from 'fastify'
import {
  CLIENT_PACKAGE,
  CLIENT_PAGE,
  CONSOLE_PAGES,
  ERRORS_PAGE,
  GET_PET_PAGE,
  INTERFACE_DOCUMENT,
  REFERENCE_PAGE,
} from '../http/page-addresses.ts'
import { ICON, START_SCALAR, STYLE } from './assets.ts'
import { CLIENT_HEADERS, clientPage, readClientPackage } from './client-package.ts'
import { consoleFiles } from './console.ts'
import { errorsPage } from './errors-page.ts'
import { CACHED_AND_REVALIDATED, CACHED_FOREVER, type PageFile, pageFile, sendFile } from './files.ts'
import { getPetPage } from './get-pet-page.ts'
import { limitPages, type PageLimits } from './limits.ts'
import { referencePage } from './reference-page.ts'
import { readScalar } from './scalar.ts'
import {
  CONSOLE_HEADERS,
  HTML_TYPE,
  JSON_TYPE,
  PAGE_HEADERS,
  REFERENCE_HEADERS,
} from '../http/security-headers.ts'
import { rejectUnknownRoutes } from '../http/unknown-routes.ts'
import type { CurrentSettings } from '../store/settings/current-settings.ts'

export async function pageRoutes(
  app: FastifyInstance,
  limits: PageLimits,
  settings: CurrentSettings,
): Promise<void> {
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

  // openapi.json is generated on the first request, because other routes are registered after this one.
  let document: PageFile | undefined
  serve(INTERFACE_DOCUMENT, CACHED_AND_REVALIDATED, () => {
    document ??= pageFile(JSON_TYPE, JSON.stringify(app.swagger()))
    return document
  })

  const scalar = readScalar()
  const reference = pageFile(HTML_TYPE, referencePage(scalar))
  serve(REFERENCE_PAGE, CACHED_AND_REVALIDATED, () => reference, REFERENCE_HEADERS)
  const errors = pageFile(HTML_TYPE, errorsPage())
  serve(ERRORS_PAGE, CACHED_AND_REVALIDATED, () => errors)
  const getPet = pageFile(HTML_TYPE, getPetPage())
  serve(GET_PET_PAGE, CACHED_AND_REVALIDATED, () => getPet)

  const client = readClientPackage()
  const clientInstall = pageFile(HTML_TYPE, clientPage(client))
  serve(CLIENT_PAGE, CACHED_AND_REVALIDATED, () => clientInstall)
  if (client !== undefined) serve(CLIENT_PACKAGE, CACHED_AND_REVALIDATED, () => client.file, CLIENT_HEADERS)

  for (const { address, file } of [STYLE, ICON, START_SCALAR]) serve(address, CACHED_FOREVER, () => file)
  if (scalar !== undefined) serve(scalar.address, CACHED_FOREVER, scalar.file)

  const { page, assets } = consoleFiles()
  const consolePage = async () => page(await settings.shop())
  for (const path of CONSOLE_PAGES) serve(path, CACHED_AND_REVALIDATED, consolePage, CONSOLE_HEADERS)
  for (const { address, file } of assets) serve(address, CACHED_FOREVER, () => file, CONSOLE_HEADERS)
}
