// `petstore mcp`: lets an assistant use a running service, over the Model Context Protocol on standard input and output.
import { once } from 'node:events'
import type { Command } from 'commander'
import { addRemoteOptions, callService, type Remote, type RemoteOptions } from './terminal/remote.ts'
import { CommandError, say, visible } from './terminal/terminal.ts'

interface McpOptions extends RemoteOptions {
  readOnly?: boolean
}

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('let an assistant use the store, over the Model Context Protocol')
    .option('--read-only', 'offer no tool that changes something')
    .addHelpText(
      'after',
      `
Start this command from the settings of your assistant: see docs/assistants.md. It reads requests from standard input and
writes responses to standard output, until standard input ends. It offers only the tools that the scopes of the API key allow.`,
    )
    .action((options: McpOptions) => callService(options, (remote) => serveAssistant(options, remote)))
  addRemoteOptions(mcp, ['petstore mcp', 'petstore mcp --read-only --url https://api.petstore.example'], {
    json: false,
    timeout: 'max time to wait for each response of the service, including retries',
    success: 'standard input has ended, or Ctrl-C',
  })
}

async function serveAssistant(
  { readOnly = false }: McpOptions,
  { store, call, stopWaiting }: Remote,
): Promise<void> {
  // Imported on demand, so that other commands start faster. The request is sent in the meantime.
  const [{ scopes }, { buildAssistantServer, offeredTools }, { serveStdio }] = await Promise.all([
    store.apiKeys.own(call),
    import('./mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  stopWaiting()
  if (offeredTools({ scopes, readOnly }).length === 0) {
    throw new CommandError(
      `The API key has the scopes ${scopes.join(', ')}, which allow no tool${readOnly ? ' with --read-only' : ''}. Ask the operator for a key with pets:read.`,
    )
  }
  const connection = serveStdio(() => buildAssistantServer({ store, scopes, readOnly }), {
    onerror: ({ message }) => say(visible(message)),
  })
  const interrupted = new Promise((resolve) => {
    call.signal?.addEventListener('abort', resolve, { once: true })
  })
  await Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), interrupted])
  await connection.close()
}
