// What the sign-in page says about a session that the service has ended.
import type { Ended } from '../session/session.ts'

export function endedText({ kind }: Ended): string {
  return kind === 'person'
    ? 'Your session has expired, or an administrator has ended it. Sign in again to continue.'
    : 'Your key has expired or was revoked. Sign in again to continue.'
}
