// Samples spans and exports them to an OpenTelemetry collector, in the background. If the collector is slow or unreachable,
// spans are lost, but no request waits. The exporter and the resource read their standard variables themselves.
import { setTimeout as sleep } from 'node:timers/promises'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { getNumberFromEnv } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../../config/config.ts'
import { VERSION } from '../../values/version.ts'
import { instanceName } from '../instance-name.ts'
import { limitedWarning } from '../limited-warning.ts'
import type { Log } from '../log.ts'
import { SPANS_QUEUED_MAX } from './tracing.ts'

/** Max time to export the remaining spans when the process shuts down. */
const FLUSHED_WITHIN_MS = 1_500
/** A longer attribute value is cut. Clients choose some of them, such as the path. */
const VALUE_MAX_CHARACTERS = 256
/** Max value of OTEL_BSP_MAX_QUEUE_SIZE. A span takes about 2 KB. */
const QUEUE_MAX = 65_536
const DELAY_MAX_MS = 60_000

export type SpanExportOptions = Pick<Config, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>

/** @param flushedWithinMs Max time to export the remaining spans when it is closed. */
export function openSpanExport(
  config: SpanExportOptions,
  log: Pick<Log, 'warn'>,
  flushedWithinMs: number = FLUSHED_WITHIN_MS,
): { provider: TracerProvider; close: () => Promise<void> } {
  logWarnings((reason) => log.warn({ reason }, 'a variable of OpenTelemetry is ignored'))
  const warn = limitedWarning(log, 'lostSpans', 'traces could not be exported')
  const provider = new TracerProvider({
    resource: readResource(),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: VALUE_MAX_CHARACTERS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportFailures(new OTLPTraceExporter(), warn),
        scheduledDelayMillis: readNumber('OTEL_BSP_SCHEDULE_DELAY', 5_000, DELAY_MAX_MS),
        exportTimeoutMillis: readNumber('OTEL_BSP_EXPORT_TIMEOUT', 30_000, DELAY_MAX_MS),
        maxQueueSize: readNumber('OTEL_BSP_MAX_QUEUE_SIZE', SPANS_QUEUED_MAX, QUEUE_MAX),
        maxExportBatchSize: readNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, QUEUE_MAX),
      }),
    ],
  })
  // From now on, dropped spans and responses that reject some spans.
  logWarnings((reason) => warn({ reason }, 0))
  return {
    provider,
    close: async () => {
      // A failed export has been reported already.
      const exported = provider.shutdown().catch(() => {})
      await Promise.race([exported, sleep(flushedWithinMs, undefined, { ref: false })])
      diag.disable()
    },
  }
}

/** The SDK writes failed exports as errors, with the response of the endpoint. `reportFailures` reports them instead. */
function logWarnings(warn: (reason: string) => void): void {
  const ignore = () => {}
  diag.setLogger(
    { error: ignore, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

function reportFailures(exporter: SpanExporter, warn: ReturnType<typeof limitedWarning>): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        // Only the message: the error may contain the response of the endpoint.
        const { error } = result
        if (error !== undefined) warn({ reason: error.message }, spans.length)
        done(result)
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}

/** A setting of the queue, which its SDK does not read itself. */
function readNumber(name: string, fallback: number, max: number): number {
  const value = getNumberFromEnv(name) ?? fallback
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  diag.warn(`${name} must be a whole number from 1 to ${max}, not ${value}`)
  return fallback
}

function samplerOf({
  OTEL_TRACES_SAMPLER: name,
  OTEL_TRACES_SAMPLER_ARG: share,
}: SpanExportOptions): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  }
  const root = roots[name.replace('parentbased_', '') as keyof typeof roots]()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function readResource(): Resource {
  const ours = resourceFromAttributes({
    'service.name': 'petstore',
    'service.version': VERSION,
    'service.instance.id': instanceName(),
  })
  const fromEnvironment = detectResources({
    detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector],
  })
  return defaultResource().merge(ours).merge(fromEnvironment)
}
