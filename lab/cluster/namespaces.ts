// Runs the drill again inside new Linux namespaces, so that the kernel ends every process and removes every mount and
// network when the drill ends, also after kill -9.
import { spawnSync } from 'node:child_process'

/** Set inside the namespaces. */
const MARKER = 'PETSTORE_DRILL_NAMESPACES'
const SIGNAL_EXIT_CODE = 130

/**
 * Returns if this process already runs inside the namespaces. Otherwise runs the same program inside new ones, and exits
 * with its exit code.
 */
export function enterNamespaces(argv = process.argv): void {
  if (process.env[MARKER]) return
  if (process.platform !== 'linux') throw new Error('The drill needs Linux: it uses network namespaces.')
  if (process.getuid?.() !== 0) throw new Error('Run the drill as root: it creates network namespaces.')
  const { status, signal, error } = spawnSync(
    'setpriv',
    // If this process ends for any reason, the kernel kills `unshare`, which kills the namespaces.
    ['--pdeathsig', 'KILL', ...unshareCommand(), process.execPath, ...process.execArgv, ...argv.slice(1)],
    { stdio: 'inherit', env: { ...process.env, [MARKER]: '1' } },
  )
  if (error) throw new Error(`Cannot start setpriv, of the package util-linux: ${error.message}`)
  process.exit(signal ? SIGNAL_EXIT_CODE : (status ?? 1))
}

function unshareCommand(): string[] {
  const namespaces = ['--mount', '--net', '--ipc', '--pid', '--fork', '--kill-child', '--mount-proc']
  // Process 1 must collect orphans, such as PostgreSQL after its Patroni was killed. Otherwise they stay as zombies, and
  // a new Patroni waits for them. Node does not collect orphans; a shell does.
  const init = ['sh', '-c', '"$@"; exit $?', 'sh']
  return ['unshare', ...namespaces, ...init]
}
