// The processes and commands of this checkout, on free ports.
import { join, resolve } from 'node:path'
import { freePort } from '../../src/data/demo/cluster.ts'
import { PetstoreProcess, SERVICE_PATH } from '../parts/petstore-process.ts'
import { run } from '../parts/processes.ts'

const EXECUTABLE = resolve(import.meta.dirname, '../../bin/petstore.ts')
const COMMAND_TIMEOUT_MS = 120_000

export interface ProcessOptions {
  folder: string
  environment: Record<string, string>
  /** A file that Node loads before the service. */
  preload?: string | undefined
}

/** @param command `serve` or `deliver`. */
export async function preparePetstore(
  command: 'serve' | 'deliver',
  { folder, environment, preload }: ProcessOptions,
): Promise<PetstoreProcess> {
  const imports = preload === undefined ? [] : ['--import', preload]
  return new PetstoreProcess({
    command: [process.execPath, ...imports, EXECUTABLE, command],
    port: await freePort(),
    adminPort: await freePort(),
    environment,
    logFile: join(folder, `${command}.log`),
  })
}

/** Starts the process, and waits until it is ready. */
export async function startAndWait(prepared: PetstoreProcess): Promise<void> {
  await prepared.start()
  await prepared.waitUntilReady()
}

/** Runs a command that must exit with this code, and returns its standard output. */
export async function runPetstore(
  args: string[],
  environment: Record<string, string>,
  expectedCode = 0,
): Promise<string> {
  const env = { PATH: SERVICE_PATH, ...environment }
  const options = { env, timeoutMs: COMMAND_TIMEOUT_MS }
  const { exitCode, stdout, stderr } = await run(process.execPath, [EXECUTABLE, ...args], options)
  if (exitCode !== expectedCode)
    throw new Error(`petstore ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`)
  return stdout
}
