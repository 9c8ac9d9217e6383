// Runs the `petstore` commands of the documents in the test process, because a new Node process for each command would
// take most of the CPU time of these tests. Commands that read standard input start the executable.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import { runInProcess, type Write } from '../cli/in-process.ts'

/** Shell functions that send a command to COMMAND_SERVER. It responds with a script that prints the output and exits. */
export const PETSTORE_FUNCTIONS = `run_petstore() (
  [[ " $* " != *' - '* ]] || exec "$EXECUTABLE" "$@"
  trap '' PIPE
  script=$({ printf '%s\\0' "$PWD" "$#" "$@"; env -0; } | command curl -sS --data-binary @- "$COMMAND_SERVER")
  eval "$script"
)
petstore() { run_petstore "$@"; }
bin/petstore.ts() { run_petstore "$@"; }
`

/** Returns the URL for COMMAND_SERVER. */
export async function startCommandServer(): Promise<string> {
  const server = createServer((request, response) => {
    readText(request)
      .then(run)
      .then((script) => response.end(script))
      .catch((error: Error) => response.destroy(error))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  afterAll(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function run(body: string): Promise<string> {
  const [folder, count, ...rest] = body.split('\0')
  const args = rest.splice(0, Number(count))
  const variables = rest.flatMap((entry) => [...entry.matchAll(/^([^=]+)=(.*)$/gs)])
  const environment = Object.fromEntries(variables.map(([, name = '', value = '']) => [name, value]))
  const { code, writes } = await runInProcess(args, environment, folder)
  return [...writes.map(toPrintf), `exit ${code}`].join('\n')
}

/** Like the executable, ignores a closed pipe on standard output. */
function toPrintf({ stream, text }: Write): string {
  const quoted = `'${text.replaceAll("'", String.raw`'\''`)}'`
  return stream === 'stdout' ? `printf %s ${quoted} 2>/dev/null || true` : `printf %s ${quoted} >&2`
}
