// The actor of a change: which API key made it, in which request. The history and the events of pets show it.

export interface Actor {
  /** The API key that made the change; undefined if the service itself made it. */
  apiKeyId: bigint | undefined
  /** The request that made the change. */
  requestId: string
}

/** Shown instead of the name of a key for changes that the service itself makes, so no key may have this name. */
export const SERVICE_NAME = 'petstore'

/** Whether a reader could mistake the name for SERVICE_NAME. Ignores case, blanks and invisible characters. */
export function isServiceName(name: string): boolean {
  const visible = name.normalize('NFKC').replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return visible.toLowerCase() === SERVICE_NAME
}
