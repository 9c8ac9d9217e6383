// Starts tracing if the configuration switches it on.
import type { Config } from '../config.ts'
import type { Log } from '../telemetry/log.ts'
import type { Tracing } from '../tracing.ts'
import { tracingSettings } from '../tracing-settings.ts'

/** Returns undefined if tracing is off. OpenTelemetry is not even loaded then. */
export async function startTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  const settings = tracingSettings(config)
  if (settings === undefined) return undefined
  const { openTracing } = await import('../telemetry/tracing.ts')
  return openTracing(settings, log)
}
