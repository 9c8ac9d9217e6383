// Paths of pages. Other pages, openapi.json, headers and redirects refer to them.

export const REFERENCE_PAGE = '/docs'
/** The page of the console on which people sign in. */
export const SIGN_IN_PAGE = '/sign-in'
export const ERRORS_PAGE = '/docs/errors'
export const GET_PET_PAGE = '/docs/deprecations/get-pet'
export const CLIENT_PAGE = '/docs/client'
/** The package of the client, for `npm install`. */
export const CLIENT_PACKAGE = '/client.tgz'
export const INTERFACE_DOCUMENT = '/openapi.json'
export const ASSETS = '/docs/assets'

/** The pages of the console. Its own router, console/src/router.tsx, shows them. */
export const CONSOLE_PAGES = [
  '/',
  '/pets/:petId',
  '/holds',
  '/till',
  '/receipt/:orderId',
  '/overview',
  '/health',
  '/api-keys',
  '/import',
  '/webhooks',
  '/webhooks/:webhookId',
  '/settings',
  '/cards',
  '/more',
  SIGN_IN_PAGE,
] as const
/** The scripts and style sheets of the console. */
export const CONSOLE_ASSETS = '/console'
