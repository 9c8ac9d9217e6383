// The Dockerfile as a list of instructions, for tests that follow it without Docker.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Instruction {
  /** In upper case, such as COPY or RUN. */
  name: string
  text: string
}

/** The instructions of each build stage, starting with FROM. Omits instructions before the first FROM. */
export function readStages(root: string): Instruction[][] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
  const stages: Instruction[][] = []
  for (const line of lines.filter((candidate) => candidate.trim() !== '')) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, text: rest.trim() })
  }
  return stages
}

/** What a COPY copies, and to where. */
export function readCopy({ text }: Instruction): { sources: string[]; target: string } {
  const paths = text.split(/\s+/)
  return { sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}

/** The values of ENV. */
export function readEnvironment(stage: Instruction[]): Record<string, string> {
  const pairs = stage.filter(({ name }) => name === 'ENV').flatMap(({ text }) => text.split(/\s+/))
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]))
}

/** The arguments of a command in exec form, without its options. */
export function readCommand(stage: Instruction[], name: string): string[] {
  const text = stage.find((instruction) => instruction.name === name)?.text ?? ''
  const start = text.indexOf('[')
  if (start < 0) throw new Error(`${name} is not in exec form: a shell would not forward signals`)
  return JSON.parse(text.slice(start)) as string[]
}
