// Builds the console, the script of the reference page and the package of the client into console/dist, which the service
// serves. `npx vite console`
// starts a server for development that reloads the page on each change, and forwards requests to the service of `npm run dev`.
import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import react from '@vitejs/plugin-react'
import fastify from 'fastify'
import { defineConfig, type Plugin } from 'vite'
import { packClient } from '../dev/package-files.ts'

const SERVICE = 'http://127.0.0.1:3000'
const CLIENT = resolve(import.meta.dirname, '../client/src')

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), scalarScript(), clientPackage(), brotli()],
  resolve: {
    // The longer name is first, because the shorter one also matches it.
    alias: { '@petstore/client/rules': `${CLIENT}/rules.ts`, '@petstore/client': `${CLIENT}/petstore.ts` },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsDir: 'console',
    // The Content-Security-Policy allows no data: URLs and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // One script for the first page. Otherwise each module that a later page shares with it becomes a file of its own.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'start', tags: ['$initial'] }] } } },
  },
  server: { proxy: { '/v1': SERVICE, '/auth': SERVICE, '/docs': SERVICE, '/openapi.json': SERVICE } },
})

/** Writes Scalar's script, compressed. Its package contains the script only as a string in a Fastify plugin. */
function scalarScript(): Plugin {
  return {
    name: 'scalar-script',
    apply: 'build',
    async generateBundle() {
      const app = fastify()
      await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } })
      const { statusCode, body } = await app.inject('/reference/js/scalar.js')
      if (statusCode !== 200) throw new Error(`Scalar's package returned ${statusCode} instead of its script`)
      // Removes the link to the source map. The package does not contain it, so developer tools would report it as missing.
      const script = body.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
      const digest = hash('sha256', script, 'base64url').slice(0, 16)
      this.emitFile({
        type: 'asset',
        fileName: `scalar-${digest}.js.gz`,
        source: gzipSync(script, { level: 9 }),
      })
    },
  }
}

function clientPackage(): Plugin {
  return {
    name: 'client-package',
    apply: 'build',
    generateBundle() {
      const source = packClient(resolve(import.meta.dirname, '..'))
      this.emitFile({ type: 'asset', fileName: 'client.tgz', source })
    },
  }
}

/** Compresses what a slow phone loads by a sixth more than gzip. It takes too long for the service to do it at its start. */
function brotli(): Plugin {
  return {
    name: 'brotli',
    apply: 'build',
    async writeBundle() {
      const folder = resolve(import.meta.dirname, 'dist/console')
      const files = readdirSync(folder).filter((name) => /\.(js|css|svg)$/.test(name))
      const compress = promisify(brotliCompress)
      await Promise.all(
        files.map(async (name) =>
          writeFileSync(join(folder, `${name}.br`), await compress(readFileSync(join(folder, name)))),
        ),
      )
    },
  }
}
