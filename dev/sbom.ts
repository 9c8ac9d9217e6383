// `node dev/sbom.ts > sbom.json`: a CycloneDX bill of materials of the production packages, with version, licence and
// hash. npm generates the list from package-lock.json; download addresses are removed.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = resolve(import.meta.dirname, '..')
const OUTPUT_MAX_BYTES = 64 * 1_048_576

interface Component {
  'bom-ref': string
  name: string
  version: string
  hashes?: { alg: string }[]
}

export interface Sbom {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

export function readSbom(root = ROOT): Sbom {
  const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: OUTPUT_MAX_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const sbom = JSON.parse(text, withoutAddresses) as Sbom
  // npm uses the name of the folder, which differs between checkouts.
  sbom.metadata.component.name = 'petstore'
  return forProduction(sbom, productionPackages(root))
}

/** Filters by the lock file, because `npm sbom --omit=dev` omits `pg`, which a development package also depends on. */
function forProduction(sbom: Sbom, production: ReadonlySet<string>): Sbom {
  const components = sbom.components.filter(({ name, version }) => production.has(`${name}@${version}`))
  const kept = new Set([sbom.metadata.component, ...components].map((component) => component['bom-ref']))
  const dependencies = sbom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((target) => kept.has(target)) }))
  return { ...sbom, components, dependencies }
}

/** The packages that `npm ci --omit=dev` installs, as `name@version`. */
function productionPackages(root: string): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; link?: boolean }>
  }
  return new Set(
    Object.entries(packages)
      .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true)
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
  )
}

/** Removes download addresses: they depend on the registry that this machine uses. */
function withoutAddresses(key: string, value: unknown): unknown {
  return key === 'externalReferences' ? undefined : value
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(readSbom(), null, 2)}\n`)
}
