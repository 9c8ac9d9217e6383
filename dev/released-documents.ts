// The documents of the API that were released. CONTRIBUTING.md says when one is added.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDER = 'releases'

export const documentOf = (version: string) => `${FOLDER}/openapi-${version}.json`

/** Their paths from the root of the repository. */
export function releasedDocuments(): string[] {
  const folder = join(ROOT, FOLDER)
  return existsSync(folder) ? readdirSync(folder).map((name) => `${FOLDER}/${name}`) : []
}
