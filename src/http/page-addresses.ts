// Paths of the documentation pages. The pages, openapi.json and the headers of deprecated operations link to them.

export const REFERENCE_PAGE = '/docs'
export const ERRORS_PAGE = '/docs/errors'
export const GET_PET_PAGE = '/docs/deprecations/get-pet'
export const INTERFACE_DOCUMENT = '/openapi.json'
export const ASSETS = '/docs/assets'
