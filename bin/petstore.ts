#!/usr/bin/env -S node --max-semi-space-size=16 --max-old-space-size=320
// The flags limit the heap, so that the process stays within the 512 MB of compose.yaml and deploy/petstore@.service.
// This file is CommonJS without type syntax (bin/package.json), so that an old version of Node can print a clear error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  process.stderr.write(`petstore needs Node 24.12 or newer; ${process.execPath} is ${process.version}.\n`)
  process.exit(1)
}
// With this cache, commands start in half the time from the second run on. Node runs what it finds in the folder, so it must
// be one that no other user can change. The default of Node is in the temporary folder, which all users share.
const cacheFolder = privateFolder()
if (cacheFolder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(cacheFolder)

/** Creates a folder below the home folder. Returns undefined if another user owns or can replace any part of its path. */
function privateFolder() {
  const { mkdirSync, statSync, lstatSync } = process.getBuiltinModule('node:fs')
  try {
    const home = process.getBuiltinModule('node:os').homedir()
    let folder = home
    for (const name of ['', '/.cache', '/petstore', '/compiled']) {
      folder += name
      if (folder !== home) mkdirSync(folder, { recursive: true, mode: 0o700 })
      // A link below the home folder could lead to a folder of another user.
      const found = folder === home ? statSync(folder) : lstatSync(folder)
      const isPrivate = found.uid === process.getuid?.() && (found.mode & 0o022) === 0
      if (!found.isDirectory() || !isPrivate) return undefined
    }
    return folder
  } catch {
    // Without a home folder, as in a container, the command starts without the cache.
    return undefined
  }
}

void import('../src/cli/program.ts').then(({ runProgram }) => runProgram(process.argv))
