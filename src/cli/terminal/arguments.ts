// Parsers for arguments and options that several commands share.
import { type Command, InvalidArgumentError } from 'commander'
import { count } from '../../values/count-text.ts'
import { parseId } from '../../values/int64.ts'

export function parseInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^[0-9]{1,9}$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`)
  }
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Parses a number with a unit, such as `90d`, into seconds. `maxText` names the max in the message. */
export function parseDuration(maxSeconds: number, maxText: string): (text: string) => number {
  return (text) => {
    const [, amount, unit = ''] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? []
    const seconds = Number(amount) * (UNIT_SECONDS[unit] ?? Number.NaN)
    if (seconds <= maxSeconds) return seconds
    throw new InvalidArgumentError(
      `Use a number and a unit, such as 90d, 24h, 30m or 60s; the max is ${maxText}.`,
    )
  }
}

/** Such as "1 to 500 characters". */
export function lengthText(
  { minLength, maxLength }: { minLength: number; maxLength: number },
  units = 'characters',
): string {
  return `${minLength} to ${count(maxLength)} ${units}`
}

export function parseIdArgument(text: string): bigint {
  const id = parseId(text)
  if (id !== undefined) return id
  throw new InvalidArgumentError('An id is a whole number above 0.')
}

/** Drops duplicate ids. */
export function collectIds(text: string, ids: bigint[] = []): bigint[] {
  const id = parseIdArgument(text)
  return ids.includes(id) ? ids : [...ids, id]
}

/** Accepts the ETag that a command prints, with or without quotes, because a shell removes them. */
export function parseEtagOf(command: string): (text: string) => string {
  return (text) => {
    const [, version] = /^"?([0-9]{1,19})"?$/.exec(text) ?? []
    if (version !== undefined) return `"${version}"`
    throw new InvalidArgumentError(`Use an ETag as printed by \`${command}\`, such as 3.`)
  }
}

/** Reports every missing argument at once. Commander itself reports only the first one. */
export function requireArguments<Given extends Record<string, unknown>>(command: Command, given: Given) {
  const missing = Object.keys(given).filter((name) => given[name] === undefined)
  if (missing.length > 0) command.error(`error: missing ${missing.join(' and ')}`)
  return given as { [Name in keyof Given]: NonNullable<Given[Name]> }
}
