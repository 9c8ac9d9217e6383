// An assistant: the official client, connected to `petstore mcp` in this process, which calls a running service.
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { afterAll, expect } from 'vitest'
import { Petstore } from '../../client/src/petstore.ts'
import { buildAssistantServer } from '../../src/cli/mcp/server.ts'
import type { Scope } from '../../src/contract/scopes.ts'
import type { ApiFixture } from '../support/api-fixture.ts'
import { issueApiKey } from '../support/app.ts'

export const STAFF_SCOPES = ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'events:read'] as const

export interface Assistant {
  client: Client
  /** Calls a tool and expects success. */
  call: <Result = Record<string, unknown>>(name: string, input?: object) => Promise<Result>
  /** Calls a tool and expects an error; returns its text. */
  fail: (name: string, input?: object) => Promise<string>
  toolNames: () => Promise<string[]>
  /** The id of the API key. */
  apiKeyId: bigint
}

interface AssistantChoices {
  scopes?: readonly Scope[]
  readOnly?: boolean
  /** Default: the service of the fixture. */
  origin?: string
  deadlineMs?: number
}

export async function openAssistant(api: ApiFixture, choices: AssistantChoices = {}): Promise<Assistant> {
  const { scopes = STAFF_SCOPES, readOnly = false, origin = api.origin, deadlineMs } = choices
  const { id: apiKeyId, text: apiKey } = await issueApiKey(api.db, { name: 'assistant', scopes })
  const store = new Petstore({ baseUrl: `${origin}/v1`, apiKey, deadlineMs })
  const server = buildAssistantServer({ store, scopes, readOnly })
  const client = new Client({ name: 'test', version: '1' })
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ofServer), client.connect(ofClient)])
  afterAll(() => client.close())
  // The client now knows the schemas of the results, and rejects a result that does not fit.
  const hasTools = client.getServerCapabilities()?.tools !== undefined
  const listed = hasTools ? (await client.listTools()).tools : []
  const send = async (name: string, input: object) => {
    const {
      content,
      structuredContent,
      isError = false,
    } = await client.callTool({
      name,
      arguments: input as Record<string, unknown>,
    })
    const [first] = content
    const text = first?.type === 'text' ? first.text : ''
    return { text, structuredContent, isError }
  }
  return {
    client,
    apiKeyId,
    toolNames: async () => listed.map(({ name }) => name),
    call: async <Result>(name: string, input: object = {}) => {
      const { text, structuredContent, isError } = await send(name, input)
      expect(isError, text).toBe(false)
      expect(JSON.parse(text)).toEqual(structuredContent)
      return structuredContent as Result
    },
    fail: async (name, input = {}) => {
      const { text, isError } = await send(name, input)
      expect(isError, text).toBe(true)
      return text
    },
  }
}
