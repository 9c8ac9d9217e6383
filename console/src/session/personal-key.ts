// Reads the personal key from the response of the service after signing in.
import type { OwnApiKey } from '@petstore/client'

export interface PersonalKey {
  apiKey: string
  own: OwnApiKey
  /** The path of the page that the person wanted to see. */
  returnTo: string
}

export function readPersonalKey(json: string): PersonalKey {
  const { key, name, scopes, expiresAt, returnTo } = JSON.parse(json) as Record<
    'key' | 'name' | 'expiresAt' | 'returnTo',
    string
  > & { scopes: string[] }
  const [id, actorId] = [idIn(json, 'id'), idIn(json, 'actorId')]
  return { apiKey: key, own: { id, actorId, kind: 'person', name, scopes, expiresAt }, returnTo }
}

/** JSON.parse would round an id above 2^53. Quotes inside a JSON string are escaped, so only the field matches. */
function idIn(json: string, field: string): string {
  return new RegExp(`"${field}":(\\d+)`).exec(json)?.[1] ?? ''
}
