// Metrics of reads from standbys. Without DATABASE_READ_URL, none of them has a value.
import { Counter, Histogram, type Registry } from 'prom-client'
import { DURATION_BUCKETS } from './buckets.ts'

/** Told which server serves each read, and why. */
export interface StandbyObserver {
  /** Called for each read of pets, orders or their history, with the host of a standby or `primary`. */
  onRead: (target: string) => void
  /** Called for each standby that has replayed the position of a read, with the seconds that the read waited for it. */
  onReplayed: (host: string, seconds: number) => void
  /** Called for each read that the primary serves instead of a standby. */
  onFallback: (reason: string) => void
  /** Called each time a fence timed out. */
  onUnfenced: () => void
}

export function addStandbyMetrics(registry: Registry): StandbyObserver {
  const registers = [registry]
  const reads = new Counter({
    name: 'petstore_reads_total',
    help: 'Reads of pets, orders and their history, by the server that returned the rows: a host of DATABASE_READ_URL, or primary.',
    labelNames: ['target'],
    registers,
  })
  const waits = new Histogram({
    name: 'petstore_standby_wait_seconds',
    help: 'Time that a read waited until the standby had replayed the position of the primary.',
    labelNames: ['host'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const fallbacks = new Counter({
    name: 'petstore_read_fallbacks_total',
    help: 'Reads that the primary served instead of a standby: no_standby (none can be used), quorum (a standby is not part of it), late (not replayed in time) or failed (rejected by the standby).',
    labelNames: ['reason'],
    registers,
  })
  const unfenced = new Counter({
    name: 'petstore_unfenced_reads_total',
    help: 'Times that reads of the primary stopped waiting for a transaction, such as an import, whose commit a standby may show already.',
    // With a label, the metric has no value until it is counted.
    labelNames: ['target'],
    registers,
  })
  return {
    onRead: (target) => reads.inc({ target }),
    onReplayed: (host, seconds) => waits.observe({ host }, seconds),
    onFallback: (reason) => fallbacks.inc({ reason }),
    onUnfenced: () => unfenced.inc({ target: 'primary' }),
  }
}
