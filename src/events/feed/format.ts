// The text of a position in the event feed. Readers must treat it as opaque.
//
// Words of this folder and of ../delivery:
// - number: of an event, 1, 2, 3 and so on in the order of the commits. The sequencer gives it shortly after the commit
// - head: the newest number
// - epoch: the time in which numbers are valid. A restore starts a new one, and readers start again
// - position: an epoch and the number of the last event that a reader has
// - window: the newest events, in memory, which all readers that keep up share
// - lane: the messages of one pet to one webhook, sent one after the other
// - lease: the right of one process to deliver a webhook for some seconds
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
