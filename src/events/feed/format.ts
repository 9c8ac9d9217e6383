// The text of a position in the event feed. Readers must treat it as opaque.
import { INT64_MAX } from '../../values/int64.ts'

/** `<epoch>-<number>` */
const POSITION = /^([0-9a-f]{12})-(\d{1,19})$/

export interface Position {
  epoch: string
  number: bigint
}

export function writePosition({ epoch, number }: Position): string {
  return `${epoch}-${number}`
}

export function parsePosition(text: string): Position | undefined {
  const [, epoch, digits] = POSITION.exec(text) ?? []
  const number = digits === undefined ? undefined : BigInt(digits)
  return epoch === undefined || number === undefined || number > INT64_MAX ? undefined : { epoch, number }
}
