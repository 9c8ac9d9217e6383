import { expect, inject, test } from 'vitest'
import { openTestClient } from '../support/client.ts'

const petstore = openTestClient(inject('contract'))

test('a list is a bare array with status 200', async () => {
  const { status, body } = await petstore.get('/pets')
  expect(status).toBe(200)
  expect(body).toBeInstanceOf(Array)
})
