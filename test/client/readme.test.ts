// client/README.md names the error codes that exist. Its snippets run in test/docs/guides.process.test.ts.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { ClientErrorCode } from '@petstore/client'
import type { WebhookErrorCode } from '@petstore/client/webhooks'

const ROOT = resolve(import.meta.dirname, '../..')
const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')

/** The codes in the table of a section. */
function codesIn(heading: string): string[] {
  const [, section = ''] = readme.split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^\| `([a-z_]+)` \| [A-Z]/gm)].map(([, code = '']) => code)
}

test('explains every error code of the client', () => {
  const codes: Record<ClientErrorCode, true> = {
    network_error: true,
    timeout: true,
    aborted: true,
    unexpected_answer: true,
    invalid_id: true,
  }
  expect(codesIn('Errors')).toEqual(Object.keys(codes))
})

test('explains every error code of verifyWebhook', () => {
  const codes: Record<WebhookErrorCode, true> = {
    missing_header: true,
    invalid_timestamp: true,
    timestamp_too_old: true,
    timestamp_too_new: true,
    invalid_signature: true,
    invalid_secret: true,
    invalid_body: true,
  }
  expect(codesIn('Receive webhooks')).toEqual(Object.keys(codes))
})
