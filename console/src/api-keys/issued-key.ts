// A new API key, as its dialog shows it.
import type { IssuedApiKey } from '@petstore/client'
import { dateText } from '../layout/dates.ts'
import type { Secret } from '../layout/shown-secret.tsx'

export const KEY_LOST_ADVICE =
  'Close this dialog and look at the list. If it shows a new key, revoke that key, because its text is lost. Then try again.'

export function issuedKey({ name, key, expiresAt }: IssuedApiKey): Secret {
  return {
    noun: 'key',
    label: 'New API key',
    owner: name,
    text: key,
    note: expiresAt === undefined ? undefined : `The key expires on ${dateText(expiresAt)}.`,
  }
}
