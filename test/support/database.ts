// A database of its own for each test file: a clone of the migrated template.
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, inject } from 'vitest'
import { type Db, openDatabase } from '../../src/db/database.ts'
import { TEMPLATE } from './global-setup.ts'

/** Creates it now and drops it after the file; `empty` has no schema yet. */
export async function createTestDatabase(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(`create database ${name} ${kind === 'migrated' ? `template ${TEMPLATE}` : ''}`)
  afterAll(() => onServer(`drop database ${name} with (force)`))
  const url = new URL(inject('serverUrl'))
  url.pathname = name
  return url.href
}

export function openTestDatabase(databaseUrl: string, size = 5): Db {
  const db = openDatabase({ databaseUrl, applicationName: 'petstore-test', size, onError: () => {} })
  afterAll(() => db.close())
  return db
}

/** Runs one statement as the owner of everything, on the given database. */
export async function sql<Row = Record<string, unknown>>(
  databaseUrl: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client(databaseUrl)
  await client.connect()
  try {
    return (await client.query(text, values)).rows as Row[]
  } finally {
    await client.end()
  }
}

function onServer(text: string): Promise<unknown> {
  return sql(inject('serverUrl'), text)
}
