// The steps of a document: its commands and programs in order, the files that the reader creates, and the output that
// the document shows for each step.
import { dirname, join } from 'node:path'
import type { Block, Document } from '../support/documents.ts'
import { linesOf, linesToRun } from './commands.ts'

const SHELL = 'sh'
const PROGRAMS = new Set(['ts', 'js'])
const OUTPUTS = new Set(['json', 'text', 'http', 'csv'])

export interface Step {
  /** The line in the document. */
  line: number
  /** The output that the document shows, if any. */
  shown: Block | undefined
}

export interface Guide {
  path: string
  /** The page that the reader followed before this one, in the same terminal. */
  continues: string | undefined
  steps: Step[]
  files: { name: string; text: string }[]
  /** All steps as one shell script. Each step first prints its `stepMark`. */
  script: string
  statements: string[]
}

export const stepName = (path: string, line: number) => `${path}:${line}`
const stepMark = (path: string, line: number) => `@@step ${stepName(path, line)}`
export const STEP_MARK = /^@@step (\S+:\d+)$/m
const CONTINUES = /\bin the terminal of the \[[^\]]+\]\(([\w-]+\.md)\)/
export const HTTP_MARK = /\n@@http (\d+)\n/g

/**
 * Starts every script. Both streams go to the terminal. `curl` shows no progress, and prints the response status for the
 * test. `head` reads its input to the end: otherwise, SIGPIPE would end the command before it if that is slower. A `curl`
 * with `--max-time` reads a stream: it ends after the first event instead, because the event may be late on a slow host.
 * For the same reason, each `sleep` of a loop that waits takes a second.
 */
export const PROLOGUE = `set -euo pipefail
exec 2>&1
head() { command head "$@"; cat > /dev/null; }
sleep() { command sleep 1; }
FOR_TEST=(-sS -w '%{stderr}\\n@@http %{http_code}\\n')
read_stream() {
  command curl "\${FOR_TEST[@]}" "$@" --max-time 120 > stream.txt &
  until grep -qs '^data: .*}$' stream.txt || ! kill -0 $! 2> /dev/null; do command sleep 0.1; done
  { kill $! && wait $!; } 2> /dev/null || true
  cat stream.txt
  return 28
}
curl() { if [[ " $* " == *' --max-time '* ]]; then read_stream "$@"; else command curl "\${FOR_TEST[@]}" "$@"; fi; }
`

export function guideOf({ path, text, blocks }: Document): Guide {
  const before = CONTINUES.exec(text)?.[1]
  const continues = before === undefined ? undefined : join(dirname(path), before)
  const guide: Guide = { path, continues, steps: [], files: [], script: '', statements: [] }
  for (const [index, block] of blocks.entries()) {
    const next = blocks[index + 1]
    const isShown = next !== undefined && next.followsBlock && next.file === '' && OUTPUTS.has(next.language)
    const step = { line: block.line, shown: isShown ? next : undefined }
    if (block.file !== '') {
      guide.files.push({ name: block.file, text: block.text })
      guide.script += `cat > ${block.file} <<'@@end'\n${block.text}@@end\n`
    } else if (block.language === SHELL) {
      addCommands(guide, step, block)
    } else if (PROGRAMS.has(block.language)) {
      addProgram(guide, step, block, blocks.slice(index + 1))
    } else if (block.language === 'sql') {
      guide.statements.push(block.text)
    }
  }
  return guide
}

function addCommands(guide: Guide, step: Step, block: Block): void {
  const toRun = linesToRun(block.text)
  if (toRun.length < linesOf(block.text).length && step.shown !== undefined) {
    throw new Error(`${guide.path}:${step.line} shows output of commands that the test does not run`)
  }
  if (toRun.length === 0) return
  guide.steps.push(step)
  guide.script += `printf '\\n%s\\n' '${stepMark(guide.path, step.line)}'\n${toRun.map(failOnError).join('\n')}\n`
}

/** `export X=$(…)` succeeds even if the command fails; an assignment does not. */
function failOnError(line: string): string {
  return line.replace(/^export (\w+)=(\$\(.*\))/s, '$1=$2; export $1')
}

/**
 * A program consists of a block with imports and the blocks after it up to the next block with imports. It runs at its last
 * block, in the project of the reader if there is one.
 */
function addProgram(guide: Guide, step: Step, block: Block, after: readonly Block[]): void {
  const isPart = ({ language, file }: Block) => PROGRAMS.has(language) && file === ''
  const begins = (part: Block) => /^import /m.test(part.text)
  let program = guide.files.findLast(({ name }) => name.startsWith('program-'))
  if (begins(block) || program === undefined) {
    const number = guide.files.filter(({ name }) => name.startsWith('program-')).length + 1
    program = { name: `program-${number}.${block.language === 'js' ? 'mjs' : 'mts'}`, text: '' }
    guide.files.push(program)
  }
  guide.steps.push(step)
  program.text += `console.log('\\n${stepMark(guide.path, step.line)}')\n${block.text}`
  const following = after.find(isPart)
  if (following !== undefined && !begins(following)) return
  guide.script += `cat > "$PROJECT/${program.name}" <<'@@end'\n${program.text}@@end\n`
  guide.script += `(cd "$PROJECT" && node ${program.name})\n`
}
