// Exports spans to an OpenTelemetry collector, in the background. If the collector is slow or unreachable, spans are lost,
// but no request waits.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from '../../config/tracing-settings.ts'
import { VERSION } from '../../values/version.ts'
import { instanceName } from '../instance-name.ts'
import { limitedWarning } from '../limited-warning.ts'
import type { Log } from '../log.ts'
import type { SpanTarget } from './recorded-span.ts'

/** Max time to export the remaining spans when the process shuts down. */
const FLUSHED_WITHIN_MS = 1_500
/** Max exports in flight. Several are in flight only during the shutdown. */
const EXPORTS_IN_FLIGHT_MAX = 8

export interface SpanExport {
  target: SpanTarget
  /** For requests that continue the trace of their caller. */
  sampler: Sampler
  /** The share of new traces that are sampled. */
  newTraceShare: number
  /** Exports the remaining spans, within `flushedWithinMs`. */
  close: () => Promise<void>
}

export function openSpanExport(
  settings: TracingSettings,
  log: Log,
  flushedWithinMs: number = FLUSHED_WITHIN_MS,
): SpanExport {
  const warn = limitedWarning(log, 'lostSpans', 'traces could not be exported')
  // The SDK reports dropped spans and responses that reject some spans. Failed exports are reported by `reportFailures`.
  const ignore = () => {}
  diag.setLogger(
    { error: ignore, warn: (reason) => warn({ reason }, 0), info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const { queue } = settings
  const batching = new BatchSpanProcessor({
    exporter: reportFailures(openExporter(settings), warn),
    scheduledDelayMillis: queue.delayMs,
    exportTimeoutMillis: queue.exportTimeoutMs,
    maxQueueSize: queue.sizeMax,
    maxExportBatchSize: queue.batchMax,
  })
  return {
    target: {
      resource: resourceOf(settings),
      instrumentationScope: { name: 'petstore', version: VERSION },
      onEnd: (span) => batching.onEnd(span),
    },
    sampler: samplerOf(settings),
    newTraceShare: newTraceShareOf(settings),
    close: async () => {
      // A failed export has been reported already.
      await Promise.race([
        batching.shutdown().catch(ignore),
        sleep(flushedWithinMs, undefined, { ref: false }),
      ])
      diag.disable()
    },
  }
}

function openExporter({ url, headers, timeoutMs, compression, files }: TracingSettings): SpanExporter {
  const { ca, cert, key } = files
  return new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: timeoutMs,
    // The package does not export the enumeration of these values.
    compression: compression as never,
    concurrencyLimit: EXPORTS_IN_FLIGHT_MAX,
    httpAgentOptions: {
      keepAlive: true,
      ...readPem('ca', ca),
      ...readPem('cert', cert),
      ...readPem('key', key),
    },
  })
}

/** The option of the HTTP agent with the content of the file. */
function readPem(option: 'ca' | 'cert' | 'key', file: string | undefined): Record<string, Buffer> {
  if (file === undefined) return {}
  try {
    return { [option]: readFileSync(file) }
  } catch (cause) {
    const setting = { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' }[option]
    throw new Error(
      `OTEL_EXPORTER_OTLP_${setting}: the file ${file} cannot be read. Set it to a PEM file that this process can read.`,
      { cause },
    )
  }
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

function samplerOf({ sampler, share }: TracingSettings): Sampler {
  const roots = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  }
  const root = roots[sampler.replace('parentbased_', '') as keyof typeof roots]()
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function newTraceShareOf({ sampler, share }: TracingSettings): number {
  if (sampler.endsWith('always_on')) return 1
  return sampler.endsWith('always_off') ? 0 : share
}

/** OTEL_SERVICE_NAME takes precedence over OTEL_RESOURCE_ATTRIBUTES, as the standard requires. */
function resourceOf({ serviceName, resource }: TracingSettings): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'petstore',
      'service.version': VERSION,
      'service.instance.id': instanceName(),
      ...resource,
      ...(serviceName !== undefined && { 'service.name': serviceName }),
    }),
  )
}
