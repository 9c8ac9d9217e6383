// Starts tracing if the configuration switches it on.
import type { Config } from '../../config/config.ts'
import { tracingSettings } from '../../config/tracing-settings.ts'
import type { Log } from '../log.ts'
import type { Tracing } from './tracing.ts'

/** Returns undefined if tracing is off. OpenTelemetry is not even loaded then. */
export async function startTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  const settings = tracingSettings(config)
  if (settings === undefined) return undefined
  const { openTracing } = await import('./open-tracing.ts')
  return openTracing(settings, log)
}
