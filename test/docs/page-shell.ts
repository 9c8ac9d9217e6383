// Runs the scripts of pages in bash, and returns the output of each step.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Guide, HTTP_MARK, STEP_MARK } from './guide.ts'

/** A page takes only seconds on an idle host. */
const SCRIPT_TIMEOUT_MS = 600_000
export const GUIDE_TIMEOUT_MS = SCRIPT_TIMEOUT_MS + 60_000

/** The output of a step, and the response statuses of its requests. */
export interface Printed {
  text: string
  statuses: string[]
}

export interface PageShell {
  /** The folder in which the pages start. */
  folder: string
  environment: Record<string, string>
  /** Functions and commands before those of the pages. */
  prologue: string
  /** Replaces the addresses and the API key of a page by those of the service. */
  asTyped: (text: string) => string
  /** Replaces the addresses of the service by those of the page. */
  asWritten: (text: string) => string
}

/** Runs pages one after the other in one shell. */
export async function runPages(pages: readonly Guide[], shell: PageShell): Promise<Map<string, Printed>> {
  const script = shell.asTyped(shell.prologue + pages.map((page) => page.script).join(''))
  if (script.includes('…')) throw new Error(`a reader cannot type this: ${/.*….*/.exec(script)?.[0]}`)
  const steps = await runScript(script, shell.folder, shell.environment)
  return new Map(
    [...steps].map(([step, text]) => [
      step,
      {
        text: shell.asWritten(text.replaceAll(HTTP_MARK, '')),
        statuses: [...text.matchAll(HTTP_MARK)].map(([, status = '']) => status),
      },
    ]),
  )
}

/** Returns the output of each step by its name. */
async function runScript(
  script: string,
  cwd: string,
  env: Record<string, string>,
): Promise<Map<string, string>> {
  const child = spawn('bash', ['--norc', '-c', script], { cwd, env, timeout: SCRIPT_TIMEOUT_MS })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const [, ...parts] = output.split(STEP_MARK)
  const steps = new Map<string, string>()
  for (let index = 0; index < parts.length; index += 2) {
    steps.set(parts[index] ?? '', parts[index + 1] ?? '')
  }
  if (code === 0) return steps
  throw new Error(`the step ${parts.at(-2)} failed (${code}):\n${parts.at(-1)}`)
}
