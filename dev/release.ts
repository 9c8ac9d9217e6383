// `node dev/release.ts`: builds the files of a release into release/: the packages of the service and of the client, the SBOM,
// the image if Docker is available, and the checksums. It publishes nothing. CONTRIBUTING.md describes how to release.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { documentOf } from './released-documents.ts'
import { BUILT_CLIENT } from './console.ts'
import { pack } from './package-files.ts'
import { readSbom } from './sbom.ts'
import { writeServerPackage } from './server-package.ts'
import { exportTrackedFiles } from './tracked-files.ts'

const ROOT = resolve(import.meta.dirname, '..')
const CHECKSUMS = 'SHA256SUMS'
const DOCKER_TIMEOUT_MS = 10_000

const OPTIONS = {
  out: { type: 'string', default: join(ROOT, 'release') },
  tag: { type: 'string' },
  'allow-dirty': { type: 'boolean', default: false },
  'allow-unreleased': { type: 'boolean', default: false },
  'no-image': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const USAGE = `Usage: node dev/release.ts [options]

  --out FOLDER        where to write the files (default: release/). Existing files of a release are replaced
  --tag TAG           fail unless TAG is "v" and the version
  --allow-dirty       also build uncommitted changes of tracked files. Untracked files are never built
  --allow-unreleased  build a development version, with unreleased changes in the changelog
  --no-image          do not build the image
`

export interface Sources {
  /** Versions in package.json, client/package.json and console/package.json. */
  server: string
  client: string
  console: string
  changelog: string
  /** Whether openapi.json is kept as the document of this release. */
  keepsDocument: boolean
  /** Output of `git status --porcelain`. */
  changes: string
}

export interface Allowed {
  tag?: string | undefined
  dirty: boolean
  unreleased: boolean
}

/** Between two releases, the version has such a suffix, so that nobody takes the code for the last release. */
const DEVELOPMENT = /-dev$/

/** Returns the reasons why these sources cannot be released; none if they can. */
export function releaseProblems(sources: Sources, allowed: Allowed): string[] {
  const { server, changelog, changes } = sources
  const problems: string[] = []
  for (const part of ['client', 'console'] as const) {
    if (sources[part] === server) continue
    problems.push(
      `package.json has version ${server}, but ${part}/package.json has ${sources[part]}: make them equal`,
    )
  }
  problems.push(...versionProblems(server, changelog, allowed))
  if (!sources.keepsDocument && !allowed.unreleased) {
    problems.push(
      `${documentOf(server)} is not openapi.json: copy it, so that later versions are compared with it`,
    )
  }
  if (allowed.tag !== undefined && allowed.tag !== `v${server}`) {
    problems.push(`the tag is ${allowed.tag}, but version ${server} needs v${server}`)
  }
  if (changes !== '' && !allowed.dirty) {
    problems.push(`the checkout has uncommitted changes: commit them, or pass --allow-dirty\n${changes}`)
  }
  return problems
}

function versionProblems(version: string, changelog: string, { unreleased }: Allowed): string[] {
  const headings = [...changelog.matchAll(/^## (\S+)/gm)].map(([, heading = '']) => heading)
  const newest = headings.find((heading) => heading !== 'Unreleased')
  const hasUnreleased = headings[0] === 'Unreleased'
  const isDevelopment = DEVELOPMENT.test(version)
  const problems: string[] = []
  if (hasUnreleased && !unreleased) {
    problems.push('CHANGELOG.md has unreleased changes: give them a version, or pass --allow-unreleased')
  }
  if (isDevelopment && !unreleased) {
    problems.push(`${version} is a development version: set the version of the release in all three packages`)
  }
  if (hasUnreleased && !isDevelopment) {
    problems.push(
      `CHANGELOG.md has changes after ${version}: set the next version with -dev in all three packages`,
    )
  }
  if (isDevelopment ? version.replace(DEVELOPMENT, '') === newest : version !== newest) {
    problems.push(`the newest version in CHANGELOG.md is ${newest}, but package.json has ${version}`)
  }
  return problems
}

/** Builds the files of a release into a folder, and returns their names. */
export async function buildRelease(out: string, withImage: boolean): Promise<string[]> {
  mkdirSync(out, { recursive: true })
  for (const name of readdirSync(out).filter(isReleaseFile)) rmSync(join(out, name))
  const build = mkdtempSync(join(tmpdir(), 'petstore-release-'))
  try {
    const sources = join(build, 'sources')
    exportTrackedFiles(ROOT, sources)
    const server = join(build, 'server')
    await writeServerPackage(sources, server)
    const client = `petstore-client-${readSources().client}.tgz`
    // The file that the service serves, so that both have the same integrity value.
    copyFileSync(join(server, BUILT_CLIENT), join(out, client))
    const files = [pack(server, out), client, 'sbom.json']
    writeFileSync(join(out, 'sbom.json'), `${JSON.stringify(readSbom(sources), null, 2)}\n`)
    if (withImage) files.push(...buildImage(sources, out))
    const lines = await Promise.all(files.map(async (name) => `${await sha256(join(out, name))}  ${name}\n`))
    writeFileSync(join(out, CHECKSUMS), lines.join(''))
    return [...files, CHECKSUMS]
  } finally {
    rmSync(build, { recursive: true, force: true })
  }
}

async function sha256(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}

/** True for a file of an earlier run, which would otherwise be taken for one of the new version. */
function isReleaseFile(name: string): boolean {
  return /^petstore-.*\.(tgz|tar)$/.test(name) || ['sbom.json', CHECKSUMS].includes(name)
}

/** Builds the image, and writes it into a file for `docker load`. Returns the name of the file, or nothing without Docker. */
function buildImage(sources: string, out: string): string[] {
  const { version } = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')) as { version: string }
  const image = `petstore:${version}`
  // The command can exist without a server, for example in a container.
  const { status } = spawnSync('docker', ['info'], { stdio: 'ignore', timeout: DOCKER_TIMEOUT_MS })
  if (status !== 0) {
    process.stderr.write(
      `Docker is not available here. To build the image, run: docker build --tag ${image} .\n`,
    )
    return []
  }
  const name = `petstore-image-${version}-${process.arch}.tar`
  const docker = (...args: string[]) =>
    execFileSync('docker', args, { cwd: sources, stdio: ['ignore', 2, 2] })
  docker('build', '--tag', image, '.')
  docker('save', '--output', join(out, name), image)
  return [name]
}

export function readSources(): Sources {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const versionIn = (path: string) => (JSON.parse(read(path)) as { version: string }).version
  const server = versionIn('package.json')
  const document = documentOf(server)
  return {
    server,
    client: versionIn('client/package.json'),
    console: versionIn('console/package.json'),
    changelog: read('CHANGELOG.md'),
    keepsDocument: existsSync(join(ROOT, document)) && read(document) === read('openapi.json'),
    changes: execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' }),
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.help) {
    process.stdout.write(USAGE)
    return
  }
  const sources = readSources()
  const problems = releaseProblems(sources, {
    tag: values.tag,
    dirty: values['allow-dirty'],
    unreleased: values['allow-unreleased'],
  })
  if (problems.length > 0) {
    process.stderr.write(problems.map((problem) => `${problem}\n`).join(''))
    process.exitCode = 1
    return
  }
  const out = resolve(values.out)
  for (const name of await buildRelease(out, !values['no-image'])) {
    process.stdout.write(`${join(out, name)}  ${Math.ceil(statSync(join(out, name)).size / 1_000)} kB\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
