// Builds a Debian root for a drill, such as the one that holds PostgreSQL, Patroni, etcd and HAProxy.
// Runs once, before the drill enters its namespaces, because it needs the network.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { runChecked } from '../parts/processes.ts'

export interface RootContents {
  suite: 'bookworm' | 'trixie'
  packages: readonly string[]
}

const CLUSTER: RootContents = {
  suite: 'trixie',
  packages: [
    'etcd-client',
    'etcd-server',
    'haproxy',
    'iproute2',
    'nftables',
    'patroni',
    'pgbackrest',
    'postgresql-17',
    'python3-etcd',
  ],
}
const BUILD_TIMEOUT_MS = 15 * 60_000
const TOOL_FOLDERS = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin']
/** If the drill is killed, the kernel ends all processes of the build and removes its mounts. */
const CONTAINED = [
  '--pdeathsig',
  'KILL',
  'unshare',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
]
const BUILDING = '.building-'
/** Names the contents of the root, so that a root built from another list of packages is not used. */
const STAMP_FILE = 'etc/petstore-drill-root'

interface Mirrors {
  main: string
  /** Undefined if the host has no security source. */
  security: string | undefined
}

/**
 * Builds the root if the folder does not exist, or is a root with other packages, and installs missing tools. An
 * interrupted build leaves no folder with this name.
 */
export async function ensureRoot(
  folder: string,
  say: (text: string) => void,
  { suite, packages }: RootContents = CLUSTER,
): Promise<void> {
  // The lab uses `ip` of the host.
  await ensureTool('ip', 'iproute2', say)
  const stamp = `${suite} ${packages.join(' ')}\n`
  const stampFile = join(folder, STAMP_FILE)
  const found = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined
  if (found === stamp) return
  if (found !== undefined) {
    say(`removing ${folder}, which has the packages of another version of the drill`)
    rmSync(folder, { recursive: true, force: true })
  }
  if (existsSync(folder))
    throw new Error(`${folder} is not a Debian root of the drill. Remove it, or use another folder.`)
  const building = `${resolve(folder)}${BUILDING}${process.pid}`
  mkdirSync(dirname(building), { recursive: true })
  removeLeftovers(`${resolve(folder)}${BUILDING}`)
  await ensureTool('mmdebstrap', 'mmdebstrap', say)
  say(`building a Debian ${suite} root in ${folder}; this takes about two minutes`)
  const { main, security } = readMirrors()
  const sources = [`deb ${main} ${suite} main`]
  if (security) sources.push(`deb ${security} ${suite}-security main`)
  const include = `--include=${packages.join(',')}`
  try {
    await runChecked(
      'setpriv',
      [...CONTAINED, 'mmdebstrap', '--variant=apt', include, suite, building, ...sources],
      {
        timeoutMs: BUILD_TIMEOUT_MS,
      },
    )
    writeFileSync(join(building, STAMP_FILE), stamp)
    renameSync(building, folder)
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
}

/** Removes the folders that killed processes left behind. Their name is the prefix and the id of the process. */
export function removeLeftovers(prefix: string): void {
  const folder = dirname(prefix)
  for (const name of readdirSync(folder)) {
    const [start = '', pid = ''] = name.split(basename(prefix))
    if (start !== '' || !/^\d+$/.test(pid) || existsSync(`/proc/${pid}`)) continue
    rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** Installs a Debian package on the host if the host does not have its tool. */
export async function ensureTool(
  name: string,
  packageName: string,
  say: (text: string) => void,
): Promise<void> {
  if (TOOL_FOLDERS.some((folder) => existsSync(join(folder, name)))) return
  say(`installing ${packageName}`)
  await runChecked('apt-get', ['update', '-q'], { timeoutMs: BUILD_TIMEOUT_MS })
  await runChecked('apt-get', ['install', '-qy', '--no-install-recommends', packageName], {
    timeoutMs: BUILD_TIMEOUT_MS,
  })
}

/** The mirrors that the host uses. */
function readMirrors(): Mirrors {
  const folder = '/etc/apt/sources.list.d'
  const names = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const paths = ['/etc/apt/sources.list', ...names].filter((path) => existsSync(path))
  return selectMirrors(paths.map((path) => ({ path, text: readFileSync(path, 'utf8') })))
}

/** Selects the mirrors from apt sources in both formats. Ignores files that apt ignores, by their name. */
export function selectMirrors(files: { path: string; text: string }[]): Mirrors {
  const sources = files.flatMap(({ path, text }) => {
    if (path.endsWith('.sources')) return parseStanzas(text)
    return path.endsWith('.list') ? parseLines(text) : []
  })
  const usable = sources.filter(({ components }) => components.includes('main'))
  const isSecurity = ({ suites }: Source) => suites.some((suite) => suite.endsWith('-security'))
  const main = usable.find((source) => !isSecurity(source) && /\/debian\/?$/.test(source.uri))
  if (!main) throw new Error('No Debian mirror found in /etc/apt/sources.list or /etc/apt/sources.list.d.')
  return { main: main.uri, security: usable.find(isSecurity)?.uri }
}

interface Source {
  uri: string
  suites: string[]
  components: string[]
}

/** Parses the deb822 format: stanzas of `Field: value` lines. A line that starts with a space continues the field. */
function parseStanzas(text: string): Source[] {
  const withoutComments = text.replaceAll(/^#.*\n/gm, '')
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map(
      stanza
        .replaceAll(/\n[ \t]+/g, ' ')
        .split('\n')
        .map((line): [string, string[]] => {
          const [name = '', value = ''] = line.split(/:(.*)/s)
          return [name.trim().toLowerCase(), value.trim().split(/\s+/)]
        }),
    )
    const list = (name: string) => fields.get(name) ?? []
    if (!list('types').includes('deb') || list('enabled').includes('no')) return []
    return list('uris').map((uri) => ({ uri, suites: list('suites'), components: list('components') }))
  })
}

/** Parses the one-line format: `deb [options] uri suite component…`. */
function parseLines(text: string): Source[] {
  return text.split('\n').flatMap((line) => {
    const words = /^deb\s+(?:\[[^\]]*\]\s+)?(.*)$/.exec(line.replace(/#.*/, '').trim())?.[1]?.split(/\s+/)
    const [uri, suite, ...components] = words ?? []
    return uri && suite ? [{ uri, suites: [suite], components }] : []
  })
}
