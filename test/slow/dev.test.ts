// `npm run dev`. test/docs also uses its service.
import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type DevService, newDataFolder, runDev, startDev } from '../support/dev-service.ts'

const nameOfNewest = async ({ origin, apiKey }: DevService) => {
  const headers = { authorization: `Bearer ${apiKey}` }
  const response = await fetch(`${origin}/v1/pets?limit=1`, { headers })
  return ((await response.json()) as { name: string }[])[0]?.name
}

const addPet = async ({ origin, apiKey }: DevService) => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Biscuit', categoryId: 1 })
  const { status } = await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body })
  expect(status).toBe(201)
}

test('keeps its data in the folder that it prints, and --fresh starts with new data', async () => {
  const folder = newDataFolder()
  let running: DevService | undefined
  onTestFinished(async () => {
    await running?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  running = await startDev(['--data', folder, '--no-watch'])
  expect(running.output()).toContain(`  Data       ${folder}\n`)
  expect(running.output()).toContain('npm run dev -- --fresh')
  expect((statSync(join(folder, 'api-key')).mode & 0o777).toString(8)).toBe('600')
  await addPet(running)
  expect(await nameOfNewest(running)).toBe('Biscuit')

  const { code, output } = await runDev(['--data', folder, '--fresh'])
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('stop it first') })
  expect(await nameOfNewest(running)).toBe('Biscuit')
  await running.stop()

  const { apiKey } = running
  running = await startDev(['--data', folder, '--no-watch', '--fresh'])
  expect(await nameOfNewest(running)).toBe('Storm (Campbell’s)')
  expect(running.apiKey).not.toBe(apiKey)
})

test('--port or PORT chooses the port, and a port that another program uses ends it with a message', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, output } = await runDev(['--port', String(port)])
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringContaining(`another program uses port ${port}`),
  })
})
