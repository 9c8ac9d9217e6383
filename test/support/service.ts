// Starts the executable: commands, and services that listen on free ports.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { COMPILE_CACHE } from './compile-cache.ts'
import { lineRecorder } from './recording.ts'

export const EXECUTABLE = join(import.meta.dirname, '../../bin/petstore.ts')
/** Node options for a service that must end with the test process, even if that is killed. */
export const END_WITH_PARENT = ['--import', join(import.meta.dirname, 'end-with-parent.ts')]
const READY_TIMEOUT_MS = 120_000

export interface Finished {
  /** Null if a signal ended the process. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

type Environment = Record<string, string>

export interface Command {
  kill: (signal: NodeJS.Signals) => void
  stderr: Readable
  /** The output so far. */
  printed: () => Pick<Finished, 'stdout' | 'stderr'>
  finished: Promise<Finished>
}

/** Runs a command in a new process. */
export function petstore(
  args: string[],
  environment: Environment = {},
  executable = EXECUTABLE,
): Promise<Finished> {
  return startPetstore(args, environment, executable).finished
}

/** Runs a line of bash in which `petstore` is the executable. */
export function shell(line: string, environment: Environment = {}): Promise<Finished> {
  const script = `petstore() { "${process.execPath}" "${EXECUTABLE}" "$@"; }\n${line}`
  return startCommand('bash', ['--norc', '-c', script], environment).finished
}

/** Like `shell`, with a terminal as standard output and standard error. Lines end with CR LF. Linux only. */
export function onTerminal(line: string, environment: Environment = {}): Promise<Finished> {
  return shell(`export -f petstore; script -qec "${line}" /dev/null`, {
    SHELL: '/bin/bash',
    TERM: 'xterm-256color',
    ...environment,
  })
}

/** Starts a command without waiting for its end. */
export function startPetstore(
  args: string[],
  environment: Environment = {},
  executable = EXECUTABLE,
): Command {
  return startCommand(process.execPath, [executable, ...args], environment)
}

const running = new Set<ChildProcess>()

/** Kills the processes that failed tests left running, because they would slow down later tests. */
export async function killRunning(): Promise<void> {
  const children = [...running]
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(children.map((child) => once(child, 'close')))
}

function track<Child extends ChildProcess>(child: Child): Child {
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

function startCommand(file: string, args: string[], environment: Environment): Command {
  const child = track(spawn(file, args, { env: cleanEnvironment(environment) }))
  const stdout = collect(child, 'stdout')
  const stderr = collect(child, 'stderr')
  const printed = () => ({ stdout: stdout(), stderr: stderr() })
  const finished = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...printed(),
  }))
  return { kill: (signal) => child.kill(signal), stderr: child.stderr, printed, finished }
}

export interface Service {
  origin: string
  adminOrigin: string
  pid: number
  /** The log so far. */
  log: () => string
  /** Sends SIGTERM and waits for the end of the process; returns the exit code. */
  stop: () => Promise<number | null>
  kill: (signal: NodeJS.Signals) => void
  ended: Promise<number | null>
}

export interface StartOptions {
  args?: string[]
  untilReady?: boolean
  executable?: string
}

/** Starts `petstore serve` on free ports and waits until it is ready. */
export async function startService(
  environment: Environment,
  { args = ['serve'], untilReady = true, executable = EXECUTABLE }: StartOptions = {},
): Promise<Service> {
  const ports = { PORT: '0', ADMIN_PORT: '0', ADMIN_HOST: '127.0.0.1' }
  const child = spawn(process.execPath, [...END_WITH_PARENT, executable, ...args], {
    env: cleanEnvironment({ ...ports, ...environment }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  track(child)
  const recordLines = lineRecorder(`${args[0]} ${child.pid}: `)
  const stdout = collect(child, 'stdout', recordLines)
  const stderr = collect(child, 'stderr', recordLines)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const addresses = await Promise.race([
    once(child, 'message').then(([message]) => message as { address: string; admin: string }),
    ended.then(() => undefined),
  ])
  if (addresses === undefined) throw new Error(`the service failed to start: ${stderr()}${stdout()}`)
  const service: Service = {
    origin: addresses.address,
    adminOrigin: addresses.admin,
    pid: child.pid ?? 0,
    log: () => stdout() + stderr(),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: (signal) => child.kill(signal),
    ended,
  }
  if (untilReady) await waitUntilReady(service)
  return service
}

export async function waitUntilReady(service: Service): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  for (;;) {
    const response = await fetch(`${service.adminOrigin}/ready`).catch(() => undefined)
    if (response?.ok) return
    if (Date.now() > deadline)
      throw new Error(`the service is not ready: ${await response?.text()}\n${service.log()}`)
    await sleep(50)
  }
}

/** An environment with only these variables, so that the configuration of the host does not affect a test. */
export function cleanEnvironment(added: Environment): Environment {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...added }
}

function collect(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  onChunk: (chunk: string) => void = () => {},
): () => string {
  let text = ''
  child[stream]?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    onChunk(chunk)
  })
  return () => text
}
