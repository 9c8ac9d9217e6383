// Where the executable keeps compiled code. Node runs what it finds there, so no other user may write it.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { VERSION } from '../../src/values/version.ts'
import { petstore } from '../support/service.ts'

/** A home folder and a temporary folder of their own. */
function newFolders() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [home, temporary, other] = ['home', 'tmp', 'other'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [home, temporary, other]) mkdirSync(path, { mode: 0o700 })
  return { home, temporary, other, cache: join(home, '.cache/petstore/compiled') }
}

async function printVersion({ home, temporary }: ReturnType<typeof newFolders>): Promise<void> {
  const environment = { HOME: home, TMPDIR: temporary, NODE_COMPILE_CACHE: '' }
  expect(await petstore(['--version'], environment)).toMatchObject({
    code: 0,
    stdout: `${VERSION}\n`,
    stderr: '',
  })
}

test('compiled code is kept in a folder of the user, and not in the temporary folder', async () => {
  const folders = newFolders()
  await printVersion(folders)
  expect(readdirSync(folders.temporary)).toEqual([])
  expect(readdirSync(folders.cache)).toHaveLength(1)
  expect((statSync(folders.cache).mode & 0o777).toString(8)).toBe('700')
})

type Folders = ReturnType<typeof newFolders>
test.each<[what: string, prepare: (folders: Folders) => void]>([
  ['a home folder that others can write', ({ home }) => chmodSync(home, 0o777)],
  [
    'a cache folder that others can write',
    ({ home, cache }) => {
      mkdirSync(cache, { recursive: true })
      chmodSync(join(home, '.cache'), 0o777)
    },
  ],
  [
    'a link to a folder',
    ({ home, other }) => {
      mkdirSync(join(home, '.cache'), { mode: 0o700 })
      symlinkSync(other, join(home, '.cache/petstore'))
    },
  ],
  ['no home folder', ({ home }) => rmSync(home, { recursive: true })],
])('no compiled code is kept or used with %s', async (_what, prepare) => {
  const folders = newFolders()
  prepare(folders)
  await printVersion(folders)
  expect(existsSync(folders.cache) ? readdirSync(folders.cache) : []).toEqual([])
  expect([...readdirSync(folders.temporary), ...readdirSync(folders.other)]).toEqual([])
})

test.runIf(userInfo().uid === 0)('no compiled code of another user is used', async () => {
  const folders = newFolders()
  mkdirSync(folders.cache, { recursive: true, mode: 0o700 })
  chownSync(folders.cache, 65_534, 65_534)
  await printVersion(folders)
  expect(readdirSync(folders.cache)).toEqual([])
})
