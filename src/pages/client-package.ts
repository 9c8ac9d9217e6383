// The package of the client, which `npm run build` has packed, and the HTML page that shows how to install it.
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENT_PACKAGE, CLIENT_PAGE, INTERFACE_DOCUMENT } from '../http/page-addresses.ts'
import { VERSION } from '../values/version.ts'
import { archiveFile, BUILT_FOLDER, type PageFile } from './files.ts'
import { escapeHtml, renderPage } from './layout.ts'
import { notBuiltPage } from './not-built-page.ts'

export interface ClientPackage {
  file: PageFile
  /** As in package-lock.json. */
  integrity: string
}

/** Returns undefined if nothing is built. */
export function readClientPackage(folder = BUILT_FOLDER): ClientPackage | undefined {
  const path = join(folder, CLIENT_PACKAGE)
  if (!existsSync(path)) return undefined
  const bytes = readFileSync(path)
  return { file: archiveFile(bytes), integrity: `sha512-${hash('sha512', bytes, 'base64')}` }
}

/** The name of the file in a release. Browsers store it under this name. */
export const CLIENT_HEADERS = {
  'content-disposition': `attachment; filename="petstore-client-${VERSION}.tgz"`,
}

const PROGRAM = `import { Petstore } from '@petstore/client'

const store = new Petstore({ baseUrl: 'PETSTORE_URL', apiKey: 'PETSTORE_API_KEY' })
for await (const pet of store.pets.list({ status: 'available' })) {
  console.log(pet.id, pet.name)
}`

export function clientPage(built: ClientPackage | undefined): string {
  if (built === undefined) return notBuiltPage('client', CLIENT_PAGE)
  return renderPage({
    address: CLIENT_PAGE,
    title: 'TypeScript client',
    description: 'Install the client of this service, and check its integrity.',
    content: `<h1>TypeScript client</h1>
<p>This service serves its own client, <a href="${CLIENT_PACKAGE}"><code>@petstore/client</code> ${VERSION}</a>. It is not on npm.</p>
<h2>Install</h2>
<p><code>PETSTORE_URL</code> is the address of this page, without its path:</p>
<pre><code>npm install "$PETSTORE_URL${CLIENT_PACKAGE}"</code></pre>
<p>The package is an ES module for Node 20 or newer, Deno, Bun and browsers. Its types need TypeScript 5.0 or newer, with
<code>"moduleResolution"</code> <code>node16</code>, <code>nodenext</code> or <code>bundler</code>.</p>
<h2>Check the integrity</h2>
<p>npm writes this value into <code>package-lock.json</code>. The file of release ${VERSION} has the same.</p>
<pre><code>${built.integrity}</code></pre>
<p>The file changes when this service gets a new version. <code>npm ci</code> then fails with <code>EINTEGRITY</code>: run the command
above again, or keep the file in your project.</p>
<h2>Use</h2>
<pre><code>${escapeHtml(PROGRAM)}</code></pre>
<p>The <code>README.md</code> in the package describes every method. For other languages, generate code from
<a href="${INTERFACE_DOCUMENT}">openapi.json</a>.</p>`,
  })
}
