// The settings of tracing: the standard variables of OpenTelemetry that Petstore supports, and what follows from them.
// The SDK would ignore an invalid value. Petstore reads every variable itself, so that the process does not start with one.
import { Fault, integer, oneOf, type Variable } from './config-values.ts'

const PROTOCOL = 'http/protobuf'
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const
const NUMBER_MAX = 60_000
/** Max spans in memory. A span takes about 2 KB. */
const QUEUE_MAX = 65_536

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    help: 'URL of an OpenTelemetry collector. It switches [tracing](tracing.md) on. Petstore adds `v1/traces` to it. While tracing is off, all variables of OpenTelemetry are ignored. Default: none.',
    example: 'http://127.0.0.1:4318',
    read: readEndpoint,
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    help: 'The complete URL for spans. Takes precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`. Default: none.',
    example: 'https://collector.example/otlp/traces',
    read: readEndpoint,
  },
  OTEL_SDK_DISABLED: { help: '`true` switches tracing off. Default: false.', read: oneOf('false', 'true') },
  OTEL_TRACES_EXPORTER: {
    help: '`otlp`, or `none` to switch tracing off. Default: otlp.',
    read: oneOf('otlp', 'none'),
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
  OTEL_EXPORTER_OTLP_PROTOCOL: { help: `Only \`${PROTOCOL}\`. Default: ${PROTOCOL}.`, read: readProtocol },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_PROTOCOL`.',
    read: readProtocol,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    help: 'Headers of each export, `name=value` with URL encoding, separated by commas, for example an access token. Default: none.',
    example: 'authorization=Bearer%20secret',
    read: readHeaders,
  },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: {
    help: 'More such headers. They take precedence over `OTEL_EXPORTER_OTLP_HEADERS`. Default: none.',
    read: readHeaders,
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    help: 'Milliseconds for one export with its retries, 1 to 60000. Default: 10000.',
    read: integer(10_000, 1, NUMBER_MAX),
  },
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_TIMEOUT`.',
    read: (text) => (text === undefined ? undefined : integer(0, 1, NUMBER_MAX)(text)),
  },
  OTEL_EXPORTER_OTLP_COMPRESSION: {
    help: '`none` or `gzip`. Default: none.',
    read: oneOf('none', 'gzip'),
  },
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_COMPRESSION`.',
    read: (text) => (text === undefined ? undefined : oneOf('none', 'gzip')(text)),
  },
  OTEL_EXPORTER_OTLP_CERTIFICATE: {
    help: 'File with the certificates (PEM) that are trusted for an `https:` endpoint. Default: those of Node.',
    read: (text) => text,
  },
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: {
    help: 'File with the client certificate (PEM), with `OTEL_EXPORTER_OTLP_CLIENT_KEY`. Default: none.',
    read: (text) => text,
  },
  OTEL_EXPORTER_OTLP_CLIENT_KEY: {
    help: 'File with the key (PEM) of the client certificate. Default: none.',
    read: (text) => text,
  },
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_CERTIFICATE`.',
    read: (text) => text,
  },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE`.',
    read: (text) => text,
  },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: {
    help: 'Takes precedence over `OTEL_EXPORTER_OTLP_CLIENT_KEY`.',
    read: (text) => text,
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    help: 'Milliseconds between two exports, 1 to 60000. Default: 5000.',
    read: integer(5_000, 1, NUMBER_MAX),
  },
  OTEL_BSP_EXPORT_TIMEOUT: {
    help: 'Milliseconds until an export is given up, 1 to 60000. Default: 30000.',
    read: integer(30_000, 1, NUMBER_MAX),
  },
  OTEL_BSP_MAX_QUEUE_SIZE: {
    help: 'Max spans that wait for an export, 1 to 65536. Further spans are dropped. Default: 2048.',
    read: integer(2_048, 1, QUEUE_MAX),
  },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: {
    help: 'Max spans of one export, at most `OTEL_BSP_MAX_QUEUE_SIZE`. Default: 512.',
    read: integer(512, 1, QUEUE_MAX),
  },
} as const satisfies Record<string, Variable<unknown>>

type Values = {
  [Name in keyof typeof TRACING_VARIABLES]: ReturnType<(typeof TRACING_VARIABLES)[Name]['read']>
}

export interface TracingSettings {
  url: string
  headers: Record<string, string>
  timeoutMs: number
  compression: 'none' | 'gzip'
  files: { ca: string | undefined; cert: string | undefined; key: string | undefined }
  sampler: (typeof SAMPLERS)[number]
  share: number
  serviceName: string | undefined
  resource: Record<string, string>
  queue: { delayMs: number; exportTimeoutMs: number; sizeMax: number; batchMax: number }
}

type TextOf = (name: keyof typeof TRACING_VARIABLES) => string | undefined

/** OpenTelemetry sets the same variables for all programs of a host, so they must not affect Petstore while it is off. */
export function isTracingOn(textOf: TextOf): boolean {
  const hasEndpoint = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const
  return (
    hasEndpoint.some((name) => textOf(name) !== undefined) &&
    textOf('OTEL_SDK_DISABLED')?.toLowerCase() !== 'true' &&
    textOf('OTEL_TRACES_EXPORTER') !== 'none'
  )
}

/** Faults of settings that depend on each other. */
export function tracingFaults(textOf: TextOf): string[] {
  const faults: string[] = []
  const number = (name: 'OTEL_BSP_MAX_QUEUE_SIZE' | 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', fallback: number) =>
    Number(textOf(name) ?? fallback)
  if (number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512) > number('OTEL_BSP_MAX_QUEUE_SIZE', 2_048)) {
    faults.push('OTEL_BSP_MAX_EXPORT_BATCH_SIZE must be at most OTEL_BSP_MAX_QUEUE_SIZE; lower the first one')
  }
  const isSet = (name: 'CLIENT_CERTIFICATE' | 'CLIENT_KEY') =>
    (textOf(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? textOf(`OTEL_EXPORTER_OTLP_${name}`)) !== undefined
  if (isSet('CLIENT_CERTIFICATE') !== isSet('CLIENT_KEY')) {
    faults.push(
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY need each other; set both or neither',
    )
  }
  return faults
}

/** Returns undefined if tracing is off. */
export function tracingSettings(values: Values): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: complete } = values
  const url = complete ?? (base && `${base.replace(/\/$/, '')}/v1/traces`)
  if (url === undefined) return undefined
  return {
    url,
    headers: { ...values.OTEL_EXPORTER_OTLP_HEADERS, ...values.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs: values.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? values.OTEL_EXPORTER_OTLP_TIMEOUT,
    compression: values.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? values.OTEL_EXPORTER_OTLP_COMPRESSION,
    files: {
      ca: values.OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE ?? values.OTEL_EXPORTER_OTLP_CERTIFICATE,
      cert:
        values.OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE ?? values.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
      key: values.OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY ?? values.OTEL_EXPORTER_OTLP_CLIENT_KEY,
    },
    sampler: values.OTEL_TRACES_SAMPLER,
    share: values.OTEL_TRACES_SAMPLER_ARG,
    serviceName: values.OTEL_SERVICE_NAME,
    resource: values.OTEL_RESOURCE_ATTRIBUTES,
    queue: {
      delayMs: values.OTEL_BSP_SCHEDULE_DELAY,
      exportTimeoutMs: values.OTEL_BSP_EXPORT_TIMEOUT,
      sizeMax: values.OTEL_BSP_MAX_QUEUE_SIZE,
      batchMax: values.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    },
  }
}

/** The URL may contain a password, so the message does not quote it. */
function readEndpoint(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Fault(
      'must be a URL such as http://127.0.0.1:4318, without a password or a query; use OTEL_EXPORTER_OTLP_HEADERS for a token, or OTEL_TRACES_EXPORTER=none to switch tracing off',
    )
  }
  return url.href
}

function readProtocol(text: string | undefined): string | undefined {
  if (text === undefined || text === PROTOCOL) return text
  throw new Fault(
    `must be ${PROTOCOL}, not "${text}"; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=${PROTOCOL} with the port of the collector for it, often 4318, or OTEL_TRACES_EXPORTER=none to switch tracing off`,
  )
}

function readShare(text: string | undefined): number {
  if (text === undefined) return 1
  if (/^(0|1|0?\.[0-9]{1,9}|[01]\.0{1,9}|0\.[0-9]{1,9})$/.test(text)) return Number(text)
  throw new Fault(`must be a number from 0 to 1, such as 0.1, not "${text}"`)
}

function readPairs(text: string | undefined): Record<string, string> {
  return (
    parsePairs(text) ?? fail(`must be pairs such as deployment.environment.name=production, not "${text}"`)
  )
}

/** A header may contain a token, so the message does not quote it. */
function readHeaders(text: string | undefined): Record<string, string> {
  const headers = parsePairs(text)
  const isValid = ([name, value]: [string, string]) =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~]*$/.test(value)
  if (headers !== undefined && Object.entries(headers).every(isValid)) return headers
  throw new Fault(
    'must be pairs such as authorization=Bearer%20secret, separated by commas, with URL encoding',
  )
}

/** Returns undefined if the text has another form. */
function parsePairs(text = ''): Record<string, string> | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  try {
    const entries = pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? fail('')
      return [decodeURIComponent(name.trim()), decodeURIComponent(value.trim())]
    })
    return Object.fromEntries(entries)
  } catch {
    return undefined
  }
}

function fail(message: string): never {
  throw new Fault(message)
}
