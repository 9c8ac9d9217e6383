// Compiles and packs packages. Imports nothing else of this repository, because the image builds the client with it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files of client/ that its package contains, besides the compiled ones and its manifest. */
const COPIED = ['LICENSE', 'README.md']

/**
 * Builds the package of the client from the sources in a folder. The service serves this file, and a release contains it.
 */
export function packClient(sources: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'))
  try {
    compile(sources, 'client/tsconfig.json', join(folder, 'dist'))
    for (const path of COPIED) cpSync(join(sources, 'client', path), join(folder, path))
    const { scripts: _, ...manifest } = readJson(sources, 'client/package.json') as Record<string, unknown>
    writeJson(join(folder, 'package.json'), manifest)
    return readFileSync(join(folder, pack(folder, folder)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Packs a folder into an archive `name-version.tgz`. Equal files result in an equal archive. */
export function pack(folder: string, destination: string): string {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination]
  const output = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })
  const [packed] = JSON.parse(output) as { filename: string }[]
  if (packed === undefined) throw new Error('npm pack printed no file name')
  return packed.filename
}

export function compile(sources: string, project: string, outDir: string): void {
  const compiler = join(sources, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', outDir], {
    cwd: sources,
    // The compiler prints errors to standard output, which belongs to the result of the release.
    stdio: ['ignore', 2, 2],
  })
}

export function readJson(sources: string, path: string): unknown {
  return JSON.parse(readFileSync(join(sources, path), 'utf8'))
}

export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
