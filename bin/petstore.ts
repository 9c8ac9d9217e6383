#!/usr/bin/env -S node --max-semi-space-size=16 --max-old-space-size=320
// These limits fit heap, buffers and code into the 512 MB that compose.yaml and deploy/petstore@.service allow.
// CommonJS without type syntax (bin/package.json): any Node can run this file, so an old one gets a clear error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(`petstore needs Node 24.12 or newer; ${process.execPath} is ${process.version}.\n`)
  process.exit(1)
}
// From the second run on, commands start in half the time.
process.getBuiltinModule('node:module').enableCompileCache()
void import('../src/cli/program.ts').then(({ runProgram }) => runProgram(process.argv))
