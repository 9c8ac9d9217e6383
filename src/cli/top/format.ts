// Formats figures for the terminal, in a few characters each. A value that is not known yet is "-".
import { count } from '../../values/count-text.ts'

const UNKNOWN = '-'
/** The highest bound of the histograms of durations. A quantile at this bound may be any value above it. */
const DURATION_BOUND_SECONDS = 10

/** Events per second. */
export function rate(perSecond: number | null): string {
  if (perSecond === null) return UNKNOWN
  if (perSecond === 0) return '0'
  if (perSecond < 0.1) return '<0.1'
  return perSecond < 9.95 ? perSecond.toFixed(1) : count(Math.round(perSecond))
}

export function share(value: number | null): string {
  if (value === null) return UNKNOWN
  const percent = value * 100
  if (percent > 0 && percent < 0.1) return '<0.1 %'
  return percent === 0 || percent >= 9.95 ? `${Math.round(percent)} %` : `${percent.toFixed(1)} %`
}

/** A quantile of durations, which is only as exact as the buckets of the histogram. */
export function latency(seconds: number | null): string {
  if (seconds === null) return UNKNOWN
  if (seconds >= DURATION_BOUND_SECONDS) return `>${DURATION_BOUND_SECONDS} s`
  if (seconds < 0.001) return '<1 ms'
  const ms = seconds * 1_000
  if (ms < 9.95) return `${ms.toFixed(1)} ms`
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${seconds.toFixed(1)} s`
}

/** How old something is, or how long until it happens, in at most two units. */
export function age(seconds: number | null): string {
  if (seconds === null) return UNKNOWN
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return `${whole} s`
  if (whole < 7_200) return `${Math.floor(whole / 60)} min`
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)]
  if (hours < 48) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  const rest = hours % 24
  return rest === 0 ? `${count(Math.floor(hours / 24))} d` : `${count(Math.floor(hours / 24))} d ${rest} h`
}

export function megabytes(bytes: number | null): string {
  return bytes === null ? UNKNOWN : `${count(Math.round(bytes / 1_000_000))} MB`
}

export function mean(value: number | null): string {
  return value === null ? UNKNOWN : value.toFixed(1)
}

export function integer(value: number | null): string {
  return value === null ? UNKNOWN : count(value)
}

/** The origin of a process without what is always the same. */
export function shortUrl(url: string): string {
  return url.replace(/^http:\/\//, '')
}
