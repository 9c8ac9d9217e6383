// Lines of the terminal: cells next to each other, never wider than the terminal.
import { type Cell, cut, type Style, visible, widthOf } from '../terminal/terminal.ts'

export type Line = readonly Cell[]

const LABEL_WIDTH = 11
/** A wider table would have too much space between the name and the figures of a row. */
const NAME_WIDTH_MAX = 40
const NAME_WIDTH_MIN = 12

export const textOf = (cell: Cell) => (typeof cell === 'string' ? cell : cell.text)

export function styled(text: string, style: Style | undefined): Cell {
  return style === undefined ? text : { text, style }
}

/** Escapes control characters, because names come from the process, and cuts the line at the width. */
export function fitLine(line: Line, width: number): Line {
  let left = width
  return line.flatMap((cell): Line => {
    if (left <= 0) return []
    const text = cut(visible(textOf(cell)), left)
    left -= widthOf(text)
    return [styled(text, typeof cell === 'string' ? undefined : cell.style)]
  })
}

/** A label and facts, as many of them as fit completely. */
export function factLine(label: string, facts: readonly Cell[], width: number): Line {
  let used = LABEL_WIDTH
  const line: Cell[] = [styled(label.padEnd(LABEL_WIDTH), 'bold')]
  for (const [index, fact] of facts.entries()) {
    const separator = index === 0 ? '' : ', '
    used += separator.length + widthOf(visible(textOf(fact)))
    if (used > width && index > 0) break
    line.push(separator, fact)
  }
  return line
}

/** Two parts, with the second one at the right edge. Without enough space, only the first one. */
export function spreadLine(left: Line, right: Line, width: number): Line {
  const widthOfLine = (line: Line) => line.reduce((sum, cell) => sum + widthOf(visible(textOf(cell))), 0)
  const space = width - widthOfLine(left) - widthOfLine(right)
  return space < 2 ? left : [...left, ' '.repeat(space), ...right]
}

/** A table whose first column is a name, and whose other columns are figures of fixed widths at the right. */
export interface Table {
  heading: Line
  row: (name: Cell, figures: readonly Cell[]) => Line
}

export function openTable(
  title: string,
  columns: readonly (readonly [heading: string, width: number])[],
  width: number,
): Table {
  const figuresWidth = columns.reduce((sum, [, columnWidth]) => sum + columnWidth, 0)
  const nameWidth = Math.max(NAME_WIDTH_MIN, Math.min(NAME_WIDTH_MAX, width - figuresWidth))
  const row = (name: Cell, figures: readonly Cell[]) => [
    mapText(name, (text) => padEnd(cut(visible(text), nameWidth), nameWidth)),
    ...columns.map(([, columnWidth], index) =>
      mapText(figures[index] ?? '', (text) => text.padStart(columnWidth)),
    ),
  ]
  const headings = columns.map(([heading]) => styled(heading, 'bold'))
  return { heading: row(styled(title, 'bold'), headings), row }
}

function mapText(cell: Cell, change: (text: string) => string): Cell {
  return typeof cell === 'string' ? change(cell) : { ...cell, text: change(cell.text) }
}

function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
