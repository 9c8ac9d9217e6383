// Parses the shell commands of documents, and checks that the scripts, commands, flags and files in them exist. Supports
// only the shell syntax that the documents use.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { ROOT } from '../support/documents.ts'

/** Commands that the tests do not run, with the reason. names.test.ts still checks their names. */
const NOT_RUN: [pattern: RegExp, why: string][] = [
  [/^npm (install(?! \S*client\.tgz)|ci|prune)\b/, 'changes the installed packages'],
  [/^pip install\b/, 'needs a registry; .ci/install installs the package of Debian'],
  [/^npm pack(?!.* --pack-destination)/, 'writes into the checkout'],
  [
    /^\.ci\/|^npm (start|test)\b|^(TEST_AT=.* )?test\/another-day\.sh\b|^npm run (build|dev|check|format|openapi|bench|drill|nightly|test:\w+)\b/,
    'has its own tests, and takes long',
  ],
  [
    /^(npm run petstore -- |petstore |(node )?bin\/petstore\.ts )(serve|deliver)\b/,
    'runs until a signal; test/cli/serve.process.test.ts and test/slow/webhook-faults.test.ts run it',
  ],
  [
    /^petstore (deliver|webhooks forward)\b/,
    'runs until a signal; test/webhooks and test/cli/webhooks-forward.process.test.ts run it',
  ],
  [/^petstore doctor --url\b/, 'needs several processes; test/cli/doctor-processes.test.ts tests it'],
  [
    /^petstore report\b/,
    'needs the role and the hosts of an installation; test/server/health.test.ts tests it',
  ],
  [/^petstore doctor --patroni\b/, 'needs Patroni; test/cli/doctor-patroni.test.ts tests it'],
  [/^(npx )?node (lab|test)\//, 'takes minutes'],
  [/^(npx )?node dev\/release\.ts\b/, 'writes into the checkout; test/slow/release.test.ts runs it'],
  [/^sha256sum\b/, 'needs the files of a release; test/slow/release.test.ts runs it'],
  [
    /^(nats-server|(npx )?node examples\/nats-relay)\b/,
    'runs until a signal; test/slow/nats-relay.test.ts runs it',
  ],
  [
    /^(npx )?node examples\/webhook-receivers\b/,
    'runs until a signal; test/client/webhook-receivers.test.ts tests it',
  ],
  [
    /^(createdb|pg_dump|pg_restore|psql)\b/,
    'needs two PostgreSQL servers; test/slow/restore.test.ts runs it',
  ],
  [
    /^(initdb|patronictl|pg_ctl|pg_dropcluster|pg_upgrade|pg_upgradecluster|vacuumdb)\b|^cp \$old_data/,
    'needs two versions of PostgreSQL, or Patroni; test/slow/major-upgrade.test.ts and the drill run the same steps',
  ],
  [
    /^petstore-admin\b|^cd \/$|^curl -fsS --retry \d+ /,
    'needs an installed server; npm run drill -- production runs it',
  ],
  [/^(apt|apt-get|docker|dpkg|install|journalctl|systemctl|systemd-run|useradd)\b/, 'changes the machine'],
  [
    /^(deploy\/backup\/\S+|patronictl|pg_ctl|pgbackrest|runuser)\b/,
    'needs a cluster; npm run drill -- restore follows docs/backups.md',
  ],
  [
    /^(etcdctl|patronictl|ssh|\.\/make-certificates)\b/,
    'needs three hosts; npm run drill runs the files of deploy/ha',
  ],
  [
    /^(amtool|promtool)\b/,
    'needs Prometheus and Alertmanager; test/slow/dashboards.test.ts starts Prometheus',
  ],
  [/\bcluster\.env\b/, 'writes into the checkout; test/deploy/high-availability.test.ts runs the scripts'],
  [/(^| )\/(etc|opt|root|usr|var)\b/, 'changes the machine'],
]

/** System programs and shell keywords that a page may use. */
const SYSTEM = new Set(
  `amtool apt apt-get base64 basename break case cat cd chmod cp createdb curl date df dirname docker done dpkg echo esac etcdctl export fi for git
  grep gzip haproxy head initdb install journalctl kill mkdir mountpoint mv nats-server od openssl patronictl pg_ctl pg_dropcluster pg_dump pg_restore
  pg_upgrade pg_upgradecluster pgbackrest pip printf promtool psql python3 rm runuser sed seq sha256sum sleep sort ssh systemctl systemd-run tail tar timeout
  tr umask useradd vacuumdb wc zcat [`.split(/\s+/),
)
const KEYWORDS = new Set(['while', 'until', 'if', 'then', 'do', 'else', '!', '{', '}', 'sudo'])
const NPM_WORDS = new Set(['install', 'ci', 'init', 'pack', 'exec', 'audit', 'prune'])

export interface SimpleCommand {
  /** Variables set only for this command. */
  assignments: Record<string, string>
  words: string[]
}

/** The lines of a block that the tests run. A block with a compound command, such as a loop, runs completely or not at all. */
export function linesToRun(text: string): string[] {
  const lines = linesOf(text)
  const toRun = lines.filter((line) => whyNotRun(line) === undefined)
  const isWhole = toRun.length === lines.length || !/^(for|while|until|if|\w+\(\)) /m.test(text)
  return isWhole ? toRun : []
}

/** The lines of a block. Continuation lines, and the parts of a pipe, are joined. */
export function linesOf(text: string): string[] {
  const lines: string[] = []
  let current = ''
  for (const line of text.split('\n')) {
    current += current === '' ? line : `\n${line}`
    if (/(\\|\||&&)$/.test(current) || !quotesAreClosed(current)) continue
    if (current.trim() !== '') lines.push(current)
    current = ''
  }
  if (current.trim() !== '') throw new Error(`a quote or a continuation line is not closed: ${current}`)
  return lines
}

function whyNotRun(line: string): string | undefined {
  return commandsIn(line)
    .map(({ words }) => NOT_RUN.find(([pattern]) => pattern.test(words.join(' ')))?.[1])
    .find((why) => why !== undefined)
}

/** Every command of a line, including those after a pipe and in `$(…)`. */
export function commandsIn(line: string): SimpleCommand[] {
  const nested: string[] = []
  const flat = line.replaceAll(/\$\(((?:'[^']*'|"[^"]*"|[^()'"])*)\)/g, (_, inner: string) => {
    nested.push(inner)
    return 'substituted'
  })
  const commands: SimpleCommand[] = []
  let words: string[] = []
  const end = () => {
    const command = toCommand(words)
    if (command.words.length > 0 || Object.keys(command.assignments).length > 0) commands.push(command)
    words = []
  }
  for (const token of tokensOf(flat)) {
    if (/^(\|\|?|&&?|;)$/.test(token)) end()
    else words.push(token)
  }
  end()
  return [...commands, ...nested.flatMap(commandsIn)]
}

/**
 * The scripts, commands, flags, files and programs of a command that do not exist. `created` are the files and shell
 * functions that the page creates.
 */
export function problemsOf({ words }: SimpleCommand, created: readonly string[] = []): string[] {
  const [name = '', ...rest] = words
  if (name === '' || name.endsWith('()') || created.includes(name)) return []
  const exists = (path: string) => existsSync(join(ROOT, path)) || created.includes(path)
  const args = petstoreWords(words)
  if (args !== undefined) return petstoreProblems(args)
  if (name === 'npm') return npmProblems(rest)
  if (name === 'npx') return problemsOf({ assignments: {}, words: rest }, created)
  if (name === 'node') {
    const [file = '', ...flags] = rest
    if (/^(-[ep]|--\w+)/.test(file)) return []
    if (!exists(file)) return [`there is no ${file}`]
    const source = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : ''
    return flags
      .filter((flag) => flag.startsWith('--') && !source.includes(flag))
      .map((flag) => `${file} has no ${flag}`)
  }
  if (/[/.]/.test(name) && name !== '[') {
    // docs/high-availability.md runs scripts in their folder, and copies of them.
    const script = name.replace(/^(?:\.|\/root\/petstore-ha)\//, 'deploy/ha/')
    return exists(name) || exists(script) ? [] : [`there is no ${name}`]
  }
  return SYSTEM.has(name) ? [] : [`"${name}" is not a known program; test/docs/commands.ts lists them`]
}

/** The arguments of `petstore`, however it is started. */
function petstoreWords(words: readonly string[]): string[] | undefined {
  const rest = words
    .join(' ')
    .match(
      /^(?:npm run (?:--silent )?petstore --|(?:node )?bin\/petstore\.ts|petstore(?:-admin)?)(?: (.*))?$/,
    )
  if (rest === null) return undefined
  return (rest[1] ?? '').split(' ').filter(Boolean)
}

function petstoreProblems(words: readonly string[]): string[] {
  const problems: string[] = []
  let command: Command = buildProgram()
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word)
    if (next !== undefined) command = next
    else if (word.startsWith('--')) {
      const known = command.options.some(({ long }) => long === word.split('=')[0])
      if (!known && word !== '--help') problems.push(`petstore ${command.name()} has no ${word}`)
    } else if (command.commands.length > 0) problems.push(`petstore has no "${word}"`)
  }
  return problems
}

function npmProblems(words: readonly string[]): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
  const [first = '', second = ''] = words.filter((word) => word !== '--silent')
  if (first === 'run') return second in scripts ? [] : [`there is no npm run ${second}`]
  return first in scripts || NPM_WORDS.has(first) ? [] : [`npm has no "${first}" here`]
}

function toCommand(tokens: readonly string[]): SimpleCommand {
  const words = [...tokens]
  const assignments: Record<string, string> = {}
  while (KEYWORDS.has(words[0] ?? '')) words.shift()
  if (words[0] === 'export') words.shift()
  for (;;) {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[0] ?? '') ?? []
    if (name === undefined) return { assignments, words }
    assignments[name] = value
    words.shift()
  }
}

/** Words without quotes, and operators. Omits redirections and comments. */
function tokensOf(line: string): string[] {
  const tokens =
    line.match(
      /(?<=^|\s)#.*|\d?>>?\s*\S+|<\s*\S+|\|\|?|&&?|;|(?:\\[^]|'[^']*'|"(?:\\.|[^"\\])*"|[^\s|&;<>'"\\])+/g,
    ) ?? []
  return tokens
    .filter((token) => !/^(#|\d?>|<|\\\n)/.test(token))
    .map((token) => token.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, '$1$2'))
}

function quotesAreClosed(text: string): boolean {
  const withoutComment = text.replaceAll(/(?<=^|\s)#.*/g, '')
  return !/['"]/.test(withoutComment.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, ''))
}
