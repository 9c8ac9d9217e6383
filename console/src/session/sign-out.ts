// Signs out: ends the session in all tabs, and revokes a personal key. A key that was typed in stays valid, because
// other programs may use it.
import { currentSession, openStore } from './session.ts'
import { endSessionInAllTabs } from './tabs.ts'

export async function signOut(): Promise<void> {
  const session = currentSession()
  endSessionInAllTabs()
  // If this fails, the key expires by itself.
  if (session?.own.kind === 'person')
    await openStore(session.apiKey)
      .apiKeys.revokeOwn()
      .catch(() => {})
}
