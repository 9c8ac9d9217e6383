import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { EXECUTABLE, petstore } from '../support/service.ts'

const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  engines: { node: string }
}

test('`petstore --version` prints the version of package.json', async () => {
  expect(await petstore(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
})

/** The first Node in PATH that is too old to run the service, with its version. */
function findOldNode(): { path: string; version: string } | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node')
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    const major = Number(/^v(\d+)\./.exec(stdout ?? '')?.[1])
    if (major < 24) return { path, version: stdout.trim() }
  }
  return undefined
}

const oldNode = findOldNode()

test.skipIf(oldNode === undefined)('with an old Node, prints the required version in one line', () => {
  const { status, stdout, stderr } = spawnSync(oldNode!.path, [EXECUTABLE, '--version'], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  const required = engines.node.replace('>=', '')
  expect(stderr).toMatch(
    new RegExp(`^petstore needs Node ${required} or newer; \\S+ is ${oldNode!.version}\\.\n$`),
  )
})

test.skipIf(oldNode === undefined)('`npm install` with an old Node prints the required version', () => {
  const { status, stdout } = spawnSync(oldNode!.path, ['dev/check-node.js'], { encoding: 'utf8', env: {} })
  const required = engines.node.replace('>=', '')
  expect(status).toBe(0)
  expect(stdout).toMatch(
    new RegExp(
      `^Petstore needs Node ${required} or newer\\. The installed version is ${oldNode!.version}: .*\\.\n$`,
    ),
  )
})
