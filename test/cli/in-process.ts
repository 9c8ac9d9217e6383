// Command lines that are rejected before anything runs: in this process, at a hundredth of the CPU of one of their own.
import { type Command, CommanderError } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'

/** What a process of its own would end with and write; the command line must be rejected. */
export async function rejectionOf(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = { stdout: '', stderr: '' }
  const program = buildProgram()
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => (output.stdout += text),
      writeErr: (text) => (output.stderr += text),
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, ...output }
    throw error
  }
  throw new Error(`accepted: ${args.join(' ')}`)
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}
