// Cookies for sign-ins. Operations under /v1 use none.
import type { FastifyRequest } from 'fastify'

export interface CookieOptions {
  path: string
  /** True if browsers reach the service over TLS. */
  isSecure: boolean
}

/** With this prefix, browsers accept the cookie only over TLS. */
function fullName(name: string, isSecure: boolean): string {
  return isSecure ? `__Secure-${name}` : name
}

/**
 * Returns the value of a cookie. Returns undefined if it was sent several times: then another host of the same domain
 * has set one of them, and the service cannot know which.
 */
export function readCookie(request: FastifyRequest, name: string, isSecure: boolean): string | undefined {
  const start = `${fullName(name, isSecure)}=`
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(start))
  return values.length === 1 ? values[0]?.slice(start.length) : undefined
}

/** The header `Set-Cookie` for a cookie that scripts cannot read, and that browsers do not send with requests of other sites. */
export function cookieHeader(
  name: string,
  value: string,
  maxAgeSeconds: number,
  { path, isSecure }: CookieOptions,
): string {
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Lax']
  return [`${fullName(name, isSecure)}=${value}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ')
}
