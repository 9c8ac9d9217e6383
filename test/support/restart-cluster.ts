// Starts a PostgreSQL again after its processes were killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, type ClusterOptions, startCluster } from '../../src/data/demo/cluster.ts'

const TRIES_MAX = 1_000

/** PostgreSQL does not start until the processes of the killed server have released its shared memory. */
export async function restartCluster(options: ClusterOptions): Promise<Cluster> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await startCluster(options)
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await sleep(100)
    }
  }
}
