// Starts tracing if the configuration switches it on.
import type { Config } from '../../config/config.ts'
import type { Log } from '../log.ts'
import type { Tracing } from './tracing.ts'

/** Returns undefined if tracing is off. OpenTelemetry is not even loaded then. */
export async function startTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined
  const { openTracing } = await import('./open-tracing.ts')
  return openTracing(config, log)
}
