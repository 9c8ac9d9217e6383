// Names and limits of API keys. Without the schemas, so that commands start without loading the schema library.

/** Shown instead of the name of a key for changes that the service itself makes, so no key may have this name. */
export const SERVICE_NAME = 'petstore'

/** Whether a reader could mistake the name for SERVICE_NAME. Ignores case, blanks and invisible characters. */
export function isServiceName(name: string): boolean {
  const visible = name.normalize('NFKC').replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return visible.toLowerCase() === SERVICE_NAME
}

/**
 * Returns the name of the key, or SERVICE_NAME if the service itself made the change. A key may have that name if it
 * was created before the name was reserved. Its id is then appended.
 */
export function actorName(apiKeyId: bigint | null, apiKeyName: string | null): string {
  if (apiKeyName === null) return SERVICE_NAME
  return isServiceName(apiKeyName) ? `${apiKeyName} (API key ${apiKeyId})` : apiKeyName
}

export const SERVICE_NAME_FAULT = `name must not be "${SERVICE_NAME}", which stands for the service itself. Create a key with another name.`

export const NAME_LENGTH_MAX = 100
export const LIFETIME_SECONDS_MAX = 10 * 365 * 86_400
/** How long a rotated key stays valid if the request has no `overlapSeconds`. */
export const OVERLAP_SECONDS_DEFAULT = 86_400
export const RATE_LIMIT_MAX = 1_000_000
