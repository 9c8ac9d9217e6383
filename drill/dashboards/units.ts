// Formats values by their unit, as Grafana does.
import {
  BytesSI,
  CountsPerSecond,
  OpsPerSecond,
  PercentUnit,
  RequestsPerSecond,
  Seconds,
} from '@grafana/grafana-foundation-sdk/units'

type Scale = [from: number, divisor: number, suffix: string][]

/** Largest first. The last entry formats everything that is smaller. */
const SECONDS: Scale = [
  [2 * 365 * 86_400, 365 * 86_400, 'years'],
  [2 * 86_400, 86_400, 'days'],
  [2 * 3_600, 3_600, 'hours'],
  [120, 60, 'min'],
  [1, 1, 's'],
  [1e-3, 1e-3, 'ms'],
  [0, 1e-6, 'µs'],
]
const BYTES: Scale = [
  [1e9, 1e9, 'GB'],
  [1e6, 1e6, 'MB'],
  [1e3, 1e3, 'kB'],
  [0, 1, 'B'],
]
const PER_SECOND: Record<string, string> = {
  [CountsPerSecond]: '/s',
  [OpsPerSecond]: 'ops/s',
  [RequestsPerSecond]: 'req/s',
}

export function formatValue(value: number, unit: string, decimals?: number): string {
  if (unit === PercentUnit) return `${digits(value * 100, decimals)} %`
  if (unit === Seconds) return value === 0 ? '0 s' : scaled(value, SECONDS, decimals)
  if (unit === BytesSI) return scaled(value, BYTES, decimals)
  const suffix = PER_SECOND[unit]
  return suffix === undefined ? digits(value, decimals) : `${digits(value, decimals)} ${suffix}`
}

function scaled(value: number, scale: Scale, decimals: number | undefined): string {
  const [, divisor, suffix] = scale.find(([from]) => Math.abs(value) >= from) ?? [0, 1, '']
  return `${digits(value / divisor, decimals)} ${suffix}`
}

/** Three digits that mean something, or as many decimals as the panel asks for. */
function digits(value: number, decimals: number | undefined): string {
  const rounded = decimals === undefined ? Number(value.toPrecision(3)) : Number(value.toFixed(decimals))
  return rounded.toLocaleString('en', { maximumFractionDigits: decimals ?? 3 })
}
