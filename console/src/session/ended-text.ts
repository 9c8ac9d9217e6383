// What the sign-in page says about the session that has ended.
import type { EndReason } from './session.ts'

export function endedText(reason: EndReason): string {
  return reason === 'rejected'
    ? 'Your key has expired or was revoked. Sign in again to continue.'
    : 'You have signed out.'
}
