// What a person reads on a terminal: on standard error, so that standard output stays for machines. Text of others,
// such as the name of an animal, comes through here so that it cannot command the terminal.
import { once } from 'node:events'
import { styleText } from 'node:util'

export type Style = 'green' | 'red' | 'yellow' | 'bold' | 'dim'
/** Painted only where standard output is a terminal. */
export type Cell = string | { text: string; style: Style }

export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A result, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A part of a long result: waits for a slow reader, so that only this part is in memory. */
export async function printPart(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Ends the process quietly when whoever reads has seen enough, as `head` does, and loudly on a full disk. */
export function endWhenNobodyReads(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    say(paint('red', `The result cannot be written (${error.message}).`))
    process.exit(1)
  })
  // There is nobody left to tell.
  process.stderr.on('error', () => process.exit())
}

/** Coloured only where the stream is a terminal, and NO_COLOR is not set. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stderr): string {
  return styleText(style, text, { stream })
}

/** To the minute, by the clock on the wall of the shop. */
export function localTime(instant: string): string {
  const date = new Date(instant)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** What went wrong and what to do about it; ends the command. */
export class CommandError extends Error {}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly Cell[])[]): string {
  return openTable()(rows)
}

/** A table whose rows come little by little: a column is as wide as its widest cell so far. */
export function openTable(): (rows: readonly (readonly Cell[])[]) => string {
  const widths: number[] = []
  return (rows) => {
    const shown = rows.map((row) => row.map(showCell))
    for (const row of shown) {
      for (const [column, { width }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, width)
    }
    return shown
      .map((row) =>
        row
          .map(({ painted, width }, column) => painted + ' '.repeat((widths[column] ?? 0) - width))
          .join('  ')
          .trimEnd(),
      )
      .join('\n')
  }
}

function showCell(cell: Cell): { painted: string; width: number } {
  const text = visible(typeof cell === 'string' ? cell : cell.text)
  return {
    painted: typeof cell === 'string' ? text : paint(cell.style, text, process.stdout),
    width: widthOf(text),
  }
}

/** Control characters, line breaks, and what turns the direction of text or is not seen; joiners of emoji may stay. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT_ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text with everything that a terminal would obey written as JSON escapes it: `\u001b`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charAt(index))).join(''),
  )
}

function escapeUnit(unit: string): string {
  return SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const PLAIN = /^[ -~]*$/
/** What takes two columns: emoji, and the scripts of East Asia. */
const WIDE =
  /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/v
const COMBINING = /^\p{M}/u

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    width += WIDE.test(segment) ? 2 : COMBINING.test(segment) ? 0 : 1
  }
  return width
}
