// Runs the `petstore` commands of the documents in the test process, because a new Node process for each command would
// take most of the CPU time of these tests. Commands that read standard input start the executable.
import { text as readText } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import { openLocalServer } from '../../lab/parts/local-server.ts'
import { runInProcess, type Write } from '../support/in-process.ts'

/** A shell function that sends a command to COMMAND_SERVER. It responds with a script that prints the output and exits. */
const RUN_PETSTORE = `run_petstore() (
  [[ " $* " != *' - '* ]] || exec "$EXECUTABLE" "$@"
  trap '' PIPE
  script=$({ printf '%s\\0' "$PWD" "$#" "$@"; env -0; } | command curl -sS --data-binary @- "$COMMAND_SERVER")
  eval "$script"
)
`

/** Runs `petstore` and `bin/petstore.ts` in the test process. */
export const PETSTORE_FUNCTIONS = `${RUN_PETSTORE}
petstore() { run_petstore "$@"; }
bin/petstore.ts() { run_petstore "$@"; }
`

/** Starts this executable for the first call of a page. Runs later calls of it in the test process. */
export const executableFunction = (executable: string) => `${RUN_PETSTORE}
is_called=$(mktemp -u)
${executable}() {
  if [ -e "$is_called" ]; then run_petstore "$@"; else : > "$is_called"; command ${executable} "$@"; fi
}
trap 'rm -f "$is_called"' EXIT
`

/** Returns the URL for COMMAND_SERVER. */
export async function startCommandServer(): Promise<string> {
  const { origin, close } = await openLocalServer((request, response) => {
    readText(request)
      .then(run)
      .then((script) => response.end(script))
      .catch((error: Error) => response.destroy(error))
  })
  afterAll(close)
  return origin
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
