// Runs command lines in the test process, which takes a hundredth of the CPU time of starting the executable. Tests of
// signals, pipes, terminals and standard input start the executable: see test/support/service.ts.
import { Writable } from 'node:stream'
import { runProgram } from '../../src/cli/program.ts'
import { SERVER_TIMEOUT_OPTIONS } from './database.ts'
import { cleanEnvironment, type Finished } from './service.ts'

export interface Write {
  stream: 'stdout' | 'stderr'
  text: string
}

let previous: Promise<unknown> = Promise.resolve()

/** Returns what `petstore()` of test/support/service.ts returns, and every write in order. */
export function runInProcess(
  args: string[],
  environment: Record<string, string> = {},
  folder = process.cwd(),
): Promise<Finished & { writes: Write[] }> {
  // Run one command at a time, because commands use the streams, the environment and the folder of the process.
  const finished = previous.then(() => run(args, environment, folder))
  previous = finished.catch(() => {})
  return finished
}

async function run(args: string[], environment: Record<string, string>, folder: string) {
  const writes: Write[] = []
  let exitCode: number | undefined
  const codeSoFar = () => Number(process.exitCode ?? 0)
  const capture = (stream: Write['stream']) => {
    const decoder = new TextDecoder()
    const write = (chunk: Buffer, _encoding: string, done: () => void) => {
      if (exitCode === undefined) writes.push({ stream, text: decoder.decode(chunk, { stream: true }) })
      done()
    }
    return { value: new Writable({ write }), configurable: true }
  }
  const { stdout, stderr, exit } = Object.getOwnPropertyDescriptors(process)
  const before = { environment: { ...process.env }, folder: process.cwd(), exitCode: process.exitCode }
  setEnvironment(cleanEnvironment({ PGOPTIONS: SERVER_TIMEOUT_OPTIONS, ...environment }))
  process.chdir(folder)
  process.exitCode = undefined
  Object.defineProperties(process, {
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    exit: {
      value: (code: number | undefined) => {
        exitCode ??= code ?? codeSoFar()
        // Ends the command here; later writes are ignored.
        throw new Error('exit')
      },
      configurable: true,
    },
  })
  try {
    await runProgram([process.execPath, 'petstore', ...args])
  } catch (error) {
    if (exitCode === undefined) throw error
  } finally {
    exitCode ??= codeSoFar()
    Object.defineProperties(process, { stdout, stderr, exit })
    process.exitCode = before.exitCode
    process.chdir(before.folder)
    setEnvironment(before.environment)
  }
  const all = (name: Write['stream']) =>
    writes.map(({ stream, text }) => (stream === name ? text : '')).join('')
  return { code: exitCode, signal: null, stdout: all('stdout'), stderr: all('stderr'), writes }
}

function setEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
}
