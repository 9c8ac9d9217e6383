// The settings of tracing that Petstore reads itself: those that switch it on, and those that its SDK does not read. The SDK
// reads all other standard variables, and logs a warning if one of them is invalid.
import { Fault, oneOf, type Variable } from './config-values.ts'

export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    help: 'URL of an OpenTelemetry collector. It switches [tracing](monitoring.md#traces) on. While tracing is off, all variables of OpenTelemetry are ignored. Default: none.',
    example: 'http://127.0.0.1:4318',
    read: readEndpoint,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    help: 'Headers of each export, `name=value` with URL encoding, separated by commas, for example an access token. Default: none.',
    example: 'authorization=Bearer%20secret',
    read: readPairs,
  },
  OTEL_SERVICE_NAME: { help: 'Name of the service in traces. Default: petstore.', read: (text) => text },
  OTEL_RESOURCE_ATTRIBUTES: {
    help: 'Attributes of every trace, `name=value`, separated by commas. Default: none.',
    example: 'deployment.environment.name=production,service.namespace=shop',
    read: readPairs,
  },
  OTEL_TRACES_SAMPLER: {
    help: 'Which traces to record: `always_on`, `always_off` or `traceidratio`. With the prefix `parentbased_`, the caller decides if it sends `traceparent`. Default: parentbased_always_on.',
    read: oneOf(...SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    help: 'Share of traces to record, 0 to 1, for `traceidratio` and `parentbased_traceidratio`. Default: 1.',
    example: '0.1',
    read: readShare,
  },
} as const satisfies Record<string, Variable<unknown>>

type TextOf = (name: string) => string | undefined

/**
 * The variables of tracing as Petstore reads them. Without an endpoint, tracing is off. OpenTelemetry sets the same variables
 * for all programs of a host, so they have no effect then, not even if they are invalid.
 */
export function tracingTexts(textOf: TextOf): Record<string, string | undefined> {
  const endpoint = textOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? textOf('OTEL_EXPORTER_OTLP_ENDPOINT')
  const isOff =
    textOf('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || textOf('OTEL_TRACES_EXPORTER') === 'none'
  if (endpoint !== undefined && !isOff) return { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
  return Object.fromEntries(Object.keys(TRACING_VARIABLES).map((name) => [name, undefined]))
}

/** Faults of variables that ask for an exporter that Petstore does not have. */
export function tracingFaults(textOf: TextOf): string[] {
  if (textOf('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined) return []
  const protocol = textOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? textOf('OTEL_EXPORTER_OTLP_PROTOCOL')
  const asked = [
    ['OTEL_TRACES_EXPORTER', textOf('OTEL_TRACES_EXPORTER'), 'otlp'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocol, 'http/protobuf'],
  ] as const
  return asked
    .filter(([, text, supported]) => text !== undefined && text !== supported)
    .map(
      ([name, text, supported]) =>
        `${name} must be ${supported}, not "${text}"; change it, or set OTEL_SDK_DISABLED=true to switch tracing off`,
    )
}

/** The URL may contain a password, so the message does not quote it. */
function readEndpoint(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isPlain = url !== null && url.username + url.password + url.search + url.hash === ''
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return text
  throw new Fault(
    '(or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, if it is set) must be a URL such as http://127.0.0.1:4318, without a password or a query; use OTEL_EXPORTER_OTLP_HEADERS for a token',
  )
}

/** A header may contain a token, so the message does not quote it. */
function readPairs(text: string | undefined): string | undefined {
  if (text === undefined || text.split(',').every((pair) => /^[^=]+=|^\s*$/.test(pair))) return text
  throw new Fault('must be pairs such as name=value, separated by commas, with URL encoding')
}

function readShare(text: string | undefined): number {
  if (text === undefined) return 1
  if (/^(0|1|0?\.[0-9]{1,9}|[01]\.0{1,9}|0\.[0-9]{1,9})$/.test(text)) return Number(text)
  throw new Fault(`must be a number from 0 to 1, such as 0.1, not "${text}"`)
}
