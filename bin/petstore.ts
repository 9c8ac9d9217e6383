#!/usr/bin/env -S node --max-semi-space-size=16 --max-old-space-size=320
// The flags limit the heap, so that the process stays within the 512 MB of compose.yaml and deploy/petstore@.service.
// This file is CommonJS without type syntax (bin/package.json), so that an old version of Node can print a clear error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(`petstore needs Node 24.12 or newer; ${process.execPath} is ${process.version}.\n`)
  process.exit(1)
}
// With this cache, commands start in half the time from the second run on.
process.getBuiltinModule('node:module').enableCompileCache()
void import('../src/cli/program.ts').then(({ runProgram }) => runProgram(process.argv))
