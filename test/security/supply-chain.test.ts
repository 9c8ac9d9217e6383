// Production packages are pinned, listed and without install scripts. So are the actions of the workflows. The service opens
// connections to PostgreSQL, to the identity provider and to the collector of traces only.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readSbom } from '../../dev/sbom.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

interface Locked {
  version: string
  integrity?: string
  hasInstallScript?: boolean
  dev?: boolean
  link?: boolean
}

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
const locked = Object.entries(packages)
  // The client is a linked workspace of this repository.
  .filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)
  .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1) ?? '', ...entry }))
const production = locked.filter(({ dev }) => dev !== true)
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>

test('every package in the lock file has a SHA-512 hash', () => {
  expect(locked.length).toBeGreaterThan(100)
  const without = locked.filter(({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
  expect(without).toEqual([])
})

test('no production package has an install script', () => {
  expect(production.filter(({ hasInstallScript }) => hasInstallScript === true)).toEqual([])
})

test('every direct dependency has an exact version', () => {
  const versions = Object.values({ ...dependencies, ...devDependencies })
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
})

test('the SBOM lists every production package with its version and hash, and no registry', () => {
  const sbom = readSbom()
  expect(sbom.metadata.component.name).toBe('petstore')
  const named = sbom.components.map(({ name, version }) => `${name}@${version}`)
  expect(new Set(named)).toEqual(new Set(production.map(({ name, version }) => `${name}@${version}`)))
  expect(named).toEqual(
    expect.arrayContaining(Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)),
  )
  expect(sbom.components.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([])
  const hosts = new Set(JSON.stringify(sbom).match(/\bhttps?:\/\/[^/"]+/g))
  expect([...hosts]).toEqual(['http://cyclonedx.org'])
})

const workflows = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`)

test('every action of a workflow is pinned by the hash of its commit, with its version in a comment', () => {
  const uses = workflows.flatMap((path) =>
    [...read(path).matchAll(/\buses:.*$/gm)].map(([line]) => `${path}: ${line}`),
  )
  expect(uses.length).toBeGreaterThan(4)
  const pinned = /: uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
  expect(uses.filter((line) => !pinned.test(line))).toEqual([])
  // One version of each action.
  expect(new Set(uses.map((line) => line.split(': ').at(-1))).size).toBe(
    new Set(uses.map((line) => line.split(': ').at(-1)?.split('@')[0])).size,
  )
})

interface Job {
  permissions: Record<string, string>
  steps: { run?: string; uses?: string }[]
}

test('the release publishes nothing, and no code of a package runs at its installation or with write access', () => {
  const path = '.github/workflows/release.yml'
  const { permissions, jobs } = parse(read(path)) as { permissions: object; jobs: Record<string, Job> }
  expect(permissions).toEqual({})
  const commandsOf = ({ steps }: Job) => steps.flatMap(({ run = '' }) => run.split('\n')).join('\n')
  for (const [name, job] of Object.entries(jobs)) {
    const commands = commandsOf(job)
    expect(commands, name).not.toMatch(/\bnpm publish\b|\bdocker push\b|--provenance/)
    for (const [, words = ''] of commands.matchAll(/\bnpm (?:ci|install|i)\b(.*)/g)) {
      expect(words, name).toContain('--ignore-scripts')
    }
    if (Object.values(job.permissions).includes('write')) {
      expect(job.steps.filter(({ uses }) => uses !== undefined)).toEqual([])
      expect(commands, name).not.toMatch(/\b(node|npm|npx|docker)\b/)
      for (const [, flags = ''] of commands.matchAll(/\bgh release create\b(.*)/g)) {
        expect(flags).toContain('--draft')
      }
    }
  }
  expect(Object.values(jobs).flatMap((job) => Object.keys(job.permissions))).not.toContain('id-token')
})

test('the service opens connections to PostgreSQL, the identity provider and the collector of traces only', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  // Type imports cannot open a connection.
  const networkImport =
    /\bfetch\(|\bWebSocket\(|^import (?!type\b)[^\n]*'(node:)?(http2?|https|net|tls|dgram|dns|undici)(\/\w+)?'/m
  const importing = sources.filter((path) => networkImport.test(read(join('src', path))))
  // These files open connections: remote.ts for the commands that call a service, patroni.ts for
  // `petstore doctor --patroni`, provider-requests.ts, and the two of events/delivery/, which `serve` does not import
  // (test/dependencies.test.ts). The others listen, or use constants and IP checks.
  expect(importing.toSorted()).toEqual([
    'access/sign-in/provider-requests.ts',
    // Waits until its own service is ready.
    'cli/demo.ts',
    'cli/doctor/patroni.ts',
    // Sends to a URL that the developer who runs `petstore webhooks forward` chose.
    'cli/forwarder.ts',
    'cli/terminal/remote.ts',
    // Finds a free port for the PostgreSQL of `petstore demo`.
    'data/demo/cluster.ts',
    // Listens on this host, as the receiver of a webhook of `petstore demo`.
    'data/demo/demo-webhooks.ts',
    'events/delivery/connections.ts',
    'events/delivery/sender.ts',
    'http/errors.ts',
    'http/server.ts',
    'http/stop-listening.ts',
    // Reads the metrics of the processes that the operator who runs `petstore doctor --url` chose.
    'telemetry/scraping/scrape.ts',
    'values/ip-address.ts',
  ])
  const signingIn = sources.filter((path) => /'openid-client'/.test(read(join('src', path))))
  expect(signingIn).toEqual(['access/sign-in/provider.ts'])
  // Imported on demand, if OTEL_EXPORTER_OTLP_ENDPOINT is set. test/telemetry/tracing.test.ts records the connections.
  const tracing = sources.filter((path) =>
    /^import (?!type)[^']*'@opentelemetry\/(?!api')/m.test(read(join('src', path))),
  )
  expect(tracing.toSorted()).toEqual([
    'telemetry/tracing/open-tracing.ts',
    'telemetry/tracing/span-export.ts',
  ])
  const loading = sources.filter((path) =>
    /\.\/open-tracing\.ts'|\.\/span-export/.test(read(join('src', path))),
  )
  expect(loading.toSorted()).toEqual([
    'telemetry/tracing/open-tracing.ts',
    'telemetry/tracing/start-tracing.ts',
  ])
  expect(read('src/telemetry/tracing/start-tracing.ts')).toContain("await import('./open-tracing.ts')")
  // `rules.ts` has only constants.
  const calling = sources.filter((path) =>
    /\/remote\.ts'|\/client\/src\/(?!rules\.ts)/.test(read(join('src', path))),
  )
  // The files of cli/mcp/ use the client that cli/mcp.ts passes on.
  expect(calling.filter((path) => !path.startsWith('cli/mcp/')).toSorted()).toEqual([
    'cli/categories.ts',
    'cli/event-types.ts',
    'cli/events-tail.ts',
    'cli/facts.ts',
    'cli/forwarder.ts',
    'cli/inventory.ts',
    'cli/mcp.ts',
    'cli/orders.ts',
    'cli/pet-changes.ts',
    'cli/pet-export.ts',
    'cli/pet-profiles.ts',
    'cli/pets.ts',
    'cli/settings.ts',
    'cli/terminal/output.ts',
    'cli/terminal/remote.ts',
    'cli/till.ts',
    'cli/webhook-deliveries.ts',
    'cli/webhooks-forward.ts',
    'cli/webhooks.ts',
  ])
  expect(read('src/http/errors.ts')).toContain("import { STATUS_CODES } from 'node:http'")
  expect(read('src/http/server.ts')).toContain(
    "import { createServer, type RequestListener, type Server, type ServerOptions as NodeOptions } from 'node:http'",
  )
  expect(read('src/http/stop-listening.ts')).toContain("import { Server as TcpServer } from 'node:net'")
  expect(read('src/values/ip-address.ts')).toContain("import { isIP } from 'node:net'")
})

test('only `petstore mcp` loads the packages of the Model Context Protocol', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const importing = sources.filter((path) =>
    /^import (?!type\b)[^']*'(?:@modelcontextprotocol\/|[^'\n]*\bmcp\/)/m.test(read(join('src', path))),
  )
  expect(importing.filter((path) => !path.startsWith('cli/mcp/'))).toEqual([])
  expect(importing).toContain('cli/mcp/server.ts')
})
