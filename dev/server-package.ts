// Builds the package of the service from a folder that has only tracked files: dev/tracked-files.ts.
// The package of the service has its folders, with JavaScript instead of TypeScript, because Node does not run TypeScript
// below node_modules.
import { chmodSync, cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildConsole } from './console.ts'
import { compile, readJson, writeJson } from './package-files.ts'

/** Files that are not compiled. */
export const COPIED = [
  'LICENSE',
  'README.md',
  'openapi.json',
  'bin/package.json',
  'bin/petstore',
  'console/dist',
  'deploy',
  'src/pages/assets',
]

interface Manifest {
  version: string
  dependencies: Record<string, string>
  [field: string]: unknown
}

interface Lock {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; link?: boolean }>
  [field: string]: unknown
}

/** Writes the files of the package into a folder, which must be empty or missing. */
export async function writeServerPackage(sources: string, folder: string): Promise<void> {
  await buildConsole(sources)
  compile(sources, 'tsconfig.release.json', folder)
  for (const path of COPIED) cpSync(join(sources, path), join(folder, path), { recursive: true })
  for (const name of readdirSync(join(sources, 'migrations')).filter((file) => file.endsWith('.sql'))) {
    cpSync(join(sources, 'migrations', name), join(folder, 'migrations', name))
  }
  chmodSync(join(folder, 'bin/petstore.js'), 0o755)
  const manifest = serverManifest(readJson(sources, 'package.json') as Manifest)
  // The compiler has copied the package.json of the checkout, because the sources import it.
  writeJson(join(folder, 'package.json'), manifest)
  writeJson(
    join(folder, 'npm-shrinkwrap.json'),
    productionLock(manifest, readJson(sources, 'package-lock.json') as Lock),
  )
}

/** The fields of package.json that users of the package need. The versions of the dependencies are exact. */
function serverManifest({ version, dependencies, ...rest }: Manifest): Manifest {
  const { name, description, license, type, engines } = rest
  const about = { name, version, description, license, private: true, type, engines }
  return { ...about, bin: { petstore: 'bin/petstore.js' }, dependencies }
}

/**
 * The locked production packages. `npm ci` in the extracted package installs these versions, which the tests used and the
 * SBOM lists. `npm install` of the archive ignores the file.
 */
function productionLock(manifest: Manifest, { packages, ...lock }: Lock): unknown {
  const { name, version, license, engines, bin, dependencies } = manifest
  const production = Object.entries(packages).filter(
    ([path, { dev, devOptional, link }]) =>
      // `devOptional`: types that the service does not need at run time.
      path.startsWith('node_modules/') && dev !== true && devOptional !== true && link !== true,
  )
  const root = { name, version, license, dependencies, bin, engines }
  return { ...lock, name, version, packages: { '': root, ...Object.fromEntries(production) } }
}
