// Notices commits that did not wait for a standby. If the wait is cancelled, PostgreSQL sends a warning and the commit
// succeeds, but a failover can still lose it.
import type { ClientBase } from 'pg'

export interface UnreplicatedCommits {
  /** Must be called once for each new connection. */
  watch: (client: ClientBase) => void
  /** Must be called before a statement that commits. Forgets the previous commit. */
  beforeCommit: (client: ClientBase) => void
  /** Whether the wait of the last commit was cancelled. */
  has: (client: ClientBase) => boolean
}

export function trackUnreplicatedCommits(): UnreplicatedCommits {
  const unreplicated = new WeakSet<ClientBase>()
  return {
    watch: (client) => {
      // Only `routine`, the C function that sent the warning, identifies it: the code 01000 is the default of all
      // warnings, and the text depends on the server's language.
      client.on('notice', ({ routine }) => {
        if (routine === 'SyncRepWaitForLSN') unreplicated.add(client)
      })
    },
    beforeCommit: (client) => void unreplicated.delete(client),
    has: (client) => unreplicated.has(client),
  }
}
