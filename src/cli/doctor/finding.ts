// The result of one check of `petstore doctor`, and how the checks query the database.
import type pg from 'pg'
import type { Reader } from '../../db/database.ts'

export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'fault'
  message: string
  remedy?: string
}

export function readerOf(client: pg.Client): Reader {
  return { read: async ({ text, values }) => (await client.query(text, values)).rows }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
