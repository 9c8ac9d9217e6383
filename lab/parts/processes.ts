// Starts, signals and finds processes without a shell, and never blocks the event loop: the load runs in this process.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'

const RUN_TIMEOUT_MS = 300_000

export interface CommandResult {
  exitCode: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  input?: string
  timeoutMs?: number
}

/** Runs a command to its end. A command that takes longer than the timeout is killed. */
export async function run(
  command: string,
  args: string[],
  { env, input, timeoutMs = RUN_TIMEOUT_MS }: RunOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, args, {
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    ...(env && { env }),
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  // The command can exit without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (signal) output.stderr += `\n${command} was ended by ${signal}`
  return { exitCode: code ?? 1, ...output }
}

/** Runs a command that must succeed, and returns its standard output. */
export async function runChecked(command: string, args: string[], options?: RunOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command, args, options)
  if (exitCode !== 0)
    throw new Error(`${command} ${args.join(' ')} failed with ${exitCode}:\n${(stderr || stdout).trim()}`)
  return stdout
}

/** A process that runs until it is stopped. Its output is appended to a log file. */
export class Daemon {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#exited = once(child, 'exit')
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Sends the signal without waiting. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends the signal and waits until the process has exited. After the timeout, the process is killed. */
  async stop(signal: 'SIGTERM' | 'SIGKILL', timeoutMs: number): Promise<void> {
    if (!this.running) return
    this.#child.kill(signal)
    const timeout = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs)
    await this.#exited
    clearTimeout(timeout)
  }
}

export async function startDaemon(
  command: string,
  args: string[],
  { logFile, env }: { logFile: string; env: Record<string, string> },
): Promise<Daemon> {
  const log = openSync(logFile, 'a')
  try {
    const child = spawn(command, args, { stdio: ['ignore', log, log], env })
    await once(child, 'spawn')
    return new Daemon(child)
  } finally {
    closeSync(log)
  }
}

/** Sends a signal to each process. A process that has already exited is no error. */
export function signalAll(pids: number[], signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** The processes in a network namespace, such as `net:[4026532281]`; with a name, only those with this name. */
export async function processesIn(namespace: string, name?: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        if ((await readlink(`/proc/${pid}/ns/net`)) !== namespace) return []
        if (name && (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() !== name) return []
        return [Number(pid)]
      } catch {
        // The process has exited in the meantime.
        return []
      }
    }),
  )
  return found.flat()
}
