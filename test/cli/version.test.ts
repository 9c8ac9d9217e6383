import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { petstore } from '../support/service.ts'

test('`petstore --version` prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await petstore(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
})
