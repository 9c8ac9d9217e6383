// Paths of all pages. The documentation pages, openapi.json and the headers of deprecated operations link to them.

export const REFERENCE_PAGE = '/docs'
export const ERRORS_PAGE = '/docs/errors'
export const GET_PET_PAGE = '/docs/deprecations/get-pet'
export const INTERFACE_DOCUMENT = '/openapi.json'
export const ASSETS = '/docs/assets'

/** The pages of the console. Its own router, console/src/router.tsx, shows them. */
export const CONSOLE_PAGES = ['/', '/pets/:petId', '/holds', '/overview', '/api-keys', '/sign-in'] as const
/** The scripts and style sheets of the console. */
export const CONSOLE_ASSETS = '/console'
