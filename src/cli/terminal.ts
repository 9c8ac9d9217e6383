// What a person reads on a terminal: on standard error, so that standard output stays for machines.
import { styleText } from 'node:util'

export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A result, on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Coloured only where the stream is a terminal. */
export function paint(style: 'green' | 'red' | 'yellow' | 'bold' | 'dim', text: string): string {
  return styleText(style, text, { stream: process.stderr })
}

/** What went wrong and what to do about it; ends the command. */
export class CommandError extends Error {}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
