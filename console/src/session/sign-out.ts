// Signs out: forgets the session in all tabs.
import { queryClient } from '../query-client.ts'
import { endSessionInAllTabs } from './tabs.ts'

export async function signOut(): Promise<void> {
  endSessionInAllTabs()
  queryClient.clear()
}
