// Where the pages are: they name each other, and openapi.json and the headers of a deprecated operation name them.

export const REFERENCE_PAGE = '/docs'
export const ERRORS_PAGE = '/docs/errors'
export const GET_PET_PAGE = '/docs/deprecations/get-pet'
export const INTERFACE_DOCUMENT = '/openapi.json'
export const ASSETS = '/docs/assets'
