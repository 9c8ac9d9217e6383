// Turns the shell blocks of a page into scripts, one for each section, because a reader can log out between two sections.
// A line of a script has the number that it has in the page, so that bash itself names the line that failed.

export interface Section {
  heading: string
  /** The number of each command's first line in the page. */
  commandLines: number[]
  script: string
}

const FAILED = '@@failed at line '
/** Ends the session at the first command that fails. `pipefail`: also inside of a pipe. */
const PROLOGUE = `set -eE -o pipefail; trap 'echo "${FAILED}$LINENO"' ERR`

/** The sections of docs/production.md for one server. The others are for other installations. */
export function partForOneServer(page: string): string {
  const end = page.indexOf('\n## Other installations\n')
  if (end === -1) throw new Error('the page has no section "Other installations"')
  return page.slice(0, end + 1)
}

/** Leaves out sections without commands. `isRun` says which blocks run. */
export function sectionsOf(page: string, isRun: (block: string) => boolean = () => true): Section[] {
  let firstLine = 1
  const sections = page.split(/^(?=## )/m).map((part): Section => {
    const commandLines: number[] = []
    const script = scriptOf(part, firstLine, commandLines, isRun)
    firstLine += part.split('\n').length - 1
    return { heading: /^## (.*)/.exec(part)?.[1] ?? '', commandLines, script }
  })
  return sections.filter(({ commandLines }) => commandLines.length > 0)
}

function scriptOf(
  part: string,
  firstLine: number,
  commandLines: number[],
  isRun: (block: string) => boolean,
): string {
  const lines = part.split('\n')
  const script = Array.from({ length: firstLine - 1 + lines.length }, () => '')
  script[0] = PROLOGUE
  for (const { start, text } of blocksOf(lines)) {
    if (!isRun(text.join('\n'))) continue
    let [continues, loops] = [false, 0]
    for (const [index, line] of text.entries()) {
      const number = firstLine + start + index
      script[number - 1] = line
      if (!continues && line.trim() !== '') commandLines.push(number)
      loops += Number(/\bdo$/.test(line)) - Number(/^done\b/.test(line))
      continues = loops > 0 || /(\\|\||&&)$/.test(line)
    }
  }
  return `${script.join('\n')}\n`
}

/** The lines of each `sh` block without the indentation of its list, and the index of its first line. */
function blocksOf(lines: readonly string[]): { start: number; text: string[] }[] {
  const blocks: { start: number; text: string[] }[] = []
  let open: { start: number; text: string[]; indent: number } | undefined
  for (const [index, line] of lines.entries()) {
    const fence = /^( *)```(\w*)/.exec(line)
    if (open !== undefined && fence !== null) {
      blocks.push(open)
      open = undefined
    } else if (open !== undefined) open.text.push(line.slice(open.indent))
    else if (fence?.[2] === 'sh') open = { start: index + 1, text: [], indent: (fence[1] ?? '').length }
  }
  return blocks
}

/** The page's line of the command that failed. */
export function failedLineIn(output: string): number {
  return Number(output.split(FAILED)[1]?.split('\n')[0] ?? 0)
}
