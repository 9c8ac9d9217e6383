// A deprecated operation warns once per process.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openClientFixture } from '../support/client-fixture.ts'

const { api, apiKey, store } = await openClientFixture()
const { id } = await store.pets.create({ name: 'Biscuit', categoryId: 1 })
const SOURCE = resolve(import.meta.dirname, '../../client/src/petstore.ts')

/** Runs code with the clients `store` and `other` in a separate process and returns its output. */
async function run(lines: string, options = '') {
  const script = `
    import { Petstore } from ${JSON.stringify(SOURCE)}
    const options = { baseUrl: '${api.origin}/v1', apiKey: '${apiKey}', ${options} }
    const store = new Petstore(options)
    const other = new Petstore(options)
    ${lines}`
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 120_000 })
}

test('getPet warns once for all calls and clients, even if the first call fails', async () => {
  const { stderr, stdout } = await run(`
    await store.pets.get('404404').catch(() => {})
    await store.pets.get('${id}')
    await other.pets.get('${id}')`)
  expect(stdout).toBe('')
  expect(stderr.trim()).toBe(
    'Petstore: getPet is deprecated and will be removed on 2030-12-05. See /docs/deprecations/get-pet',
  )
})

test('calls onDeprecated once with the details instead of writing to the console', async () => {
  const { stderr, stdout } = await run(
    `await store.pets.get('${id}')
     await store.pets.get('${id}')`,
    'onDeprecated: (deprecation) => console.log(JSON.stringify(deprecation))',
  )
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    operation: 'getPet',
    sunset: '2030-12-05T00:00:00.000Z',
    page: '/docs/deprecations/get-pet',
    message: expect.stringContaining('getPet is deprecated'),
  })
})

test('other operations do not warn', async () => {
  const { stderr } = await run(`
    await store.pets.find('${id}')
    for await (const pet of store.pets.list()) void pet
    await store.inventory()`)
  expect(stderr).toBe('')
})
