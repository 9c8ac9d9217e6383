// Terminal output: messages go to standard error, results to standard output. Escapes control characters in data,
// such as the name of a pet, so that data cannot control the terminal.
import { once } from 'node:events'
import { styleText } from 'node:util'

export type Style = 'green' | 'red' | 'yellow' | 'bold' | 'dim'
/** The style applies only if standard output is a terminal. */
export type Cell = string | { text: string; style: Style }

/** Prints a message to standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Prints a result to standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints a part of a long result. Waits for a slow reader, so that only one part is in memory. */
export async function printPart(part: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(part)) await once(process.stdout, 'drain')
}

/** Exits silently if the reader closes the pipe, as `head` does. Exits with a message on other write errors. */
export function exitOnClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    say(paint('red', `Cannot write the result (${error.message}).`))
    process.exit(1)
  })
  // Without standard error, no message can be printed. The work continues, because it may change data.
  process.stderr.on('error', () => {})
}

/** Applies the style if the stream is a terminal and NO_COLOR is not set. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stderr): string {
  return styleText(style, text, { stream })
}

const two = (value: number) => String(value).padStart(2, '0')

/** Date and time in the local time zone, to the minute. */
export function localTime(instant: string): string {
  const date = new Date(instant)
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The time of day in the local time zone, to the second. */
export function localClock(instant: string): string {
  const date = new Date(instant)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

/** Ends the command. The message says what is wrong and what to do. */
export class CommandError extends Error {}

/** Wraps the paragraphs of a help text. Lines that start with a space, such as options and examples, stay as they are. */
export function wrapProse(text: string, width: number = process.stdout.columns ?? 80): string {
  return text.replaceAll(/^\S.*(?:\n\S.*)*/gm, (paragraph) => {
    const [first = '', ...words] = paragraph.split(/\s+/)
    let column = first.length
    return words.reduce((lines, word) => {
      const fits = column + 1 + word.length <= width
      column = fits ? column + 1 + word.length : word.length
      return `${lines}${fits ? ' ' : '\n'}${word}`
    }, first)
  })
}

/** Formats a table; each column is as wide as its widest cell. */
export function table(rows: readonly (readonly Cell[])[]): string {
  return openTable()(rows)
}

/** Formats a table in parts; each column is as wide as its widest cell so far. */
export function openTable(): (rows: readonly (readonly Cell[])[]) => string {
  const widths: number[] = []
  return (rows) => {
    const cells = rows.map((row) => row.map(formatCell))
    for (const row of cells) {
      for (const [column, { width }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, width)
    }
    return cells
      .map((row) =>
        row
          .map(({ painted, width }, column) => painted + ' '.repeat((widths[column] ?? 0) - width))
          .join('  ')
          .trimEnd(),
      )
      .join('\n')
  }
}

function formatCell(cell: Cell): { painted: string; width: number } {
  const text = visible(typeof cell === 'string' ? cell : cell.text)
  return {
    painted: typeof cell === 'string' ? text : paint(cell.style, text, process.stdout),
    width: widthOf(text),
  }
}

/** Control characters, line breaks, invisible and bidirectional formatting characters. Emoji joiners are allowed. */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT_ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes characters that a terminal would interpret, as JSON does: `\u001b`. */
export function visible(text: string): string {
  return text.replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charAt(index))).join(''),
  )
}

function escapeUnit(unit: string): string {
  return SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const PLAIN = /^[ -~]*$/
/** Characters two columns wide: emoji and East Asian scripts. */
const WIDE =
  /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/v
const COMBINING = /^\p{M}/u

/** The width of the text in terminal columns. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    width += WIDE.test(segment) ? 2 : COMBINING.test(segment) ? 0 : 1
  }
  return width
}

/** Cuts the text to a width in terminal columns. The last column then shows that something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (widthOf(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept}…`
}
