// What the alert drill knows about a fault: how to cause it, and which alerts an operator must get.
import { type AlertName, alertOf } from '../../src/telemetry/alerts.ts'
import type { Environment, Needs } from './environment.ts'

export interface Planted {
  /** When the fault began, in milliseconds since 1970. Default: the start of `plant`. */
  since?: number
  /** Ends the fault. Absent if its alert resolves only much later. */
  heal?: () => Promise<unknown>
}

export interface PlantedFault {
  description: string
  /** The alerts that an operator gets. */
  expected: AlertName[]
  /** Consequences of the fault that may fire in Prometheus. Alertmanager must not send them. */
  inhibited?: AlertName[]
  needs?: Needs
  /** Seconds from the fault until the expression of the alert can first be true: its threshold. Default: 0. */
  trueAfterSeconds?: number
  /** How long to watch for other alerts after the expected ones. Default: 60. */
  watchSeconds?: number
  /** How long the alerts may take to resolve after `heal`. Default: 150. */
  resolvedWithinSeconds?: number
  plant: (environment: Environment) => Promise<Planted>
}

/** From the fault until the last of the expected alerts is due: its condition can be true, and its `for` time has passed. */
export function secondsUntilDue({ expected, trueAfterSeconds = 0 }: PlantedFault): number {
  return trueAfterSeconds + Math.max(0, ...expected.map((name) => alertOf(name).forSeconds ?? 0))
}
