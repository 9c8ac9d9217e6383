// Builds the console into console/dist, which the service serves. `npx vite console` starts a server for development that
// reloads the page on each change, and forwards requests to the service of `npm run dev`.
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const SERVICE = 'http://127.0.0.1:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: { alias: { '@petstore/client': resolve(import.meta.dirname, '../client/src/petstore.ts') } },
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
