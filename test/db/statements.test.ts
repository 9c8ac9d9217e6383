// Every statement of the service: PostgreSQL describes the columns that it returns, and the TypeScript compiler the row type
// that its function promises. Nothing is executed.
import { join, resolve } from 'node:path'
import { Client, type Connection, type Submittable } from 'pg'
import { afterAll, expect, test } from 'vitest'
import type { Statement } from '../../src/db/database.ts'
import {
  FILTER_KINDS,
  petByReference,
  petsByName,
  petsByWord,
  petsInRange,
} from '../../src/store/pets/queries.ts'
import { createTestDatabase } from '../support/database.ts'
import { asSuperuser } from '../support/roles.ts'
import { isNameOf, type StatementFunction, statementFunctions } from '../support/statements.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const client = new Client(asSuperuser(await createTestDatabase()))
await client.connect()
afterAll(() => client.end())

/** Arguments, after the database, of functions that send different statements for different arguments. */
const ARGUMENTS: Record<string, unknown[][]> = {
  findPetPages: FILTER_KINDS.flatMap((kind) => [
    [kind, []],
    [kind, [{ filters: {}, beforeId: undefined, max: 1, include: 1 }]],
  ]),
  findPetsByName: [0, 1].map((include) => [{ prefix: 'x', status: undefined }, undefined, 1, include]),
  findOrdersBefore: [{}, { status: 'open' }, { petId: 1n }, { status: 'open', petId: 1n }].map((filters) => [
    filters,
  ]),
  findMatchingPets: [
    petsByWord('x', undefined),
    petByReference('x', undefined),
    petsByName({ prefix: 'x', status: undefined }, undefined),
    petsInRange({}, undefined),
    petsInRange({ status: 'sold' }, undefined),
    petsInRange({ categoryId: 1n }, undefined),
    petsInRange({ status: 'sold', categoryId: 1n }, undefined),
  ].flatMap((source) => [0, 1].map((include) => [source, {}, 1, include])),
  countMatchingPets: [
    petsByWord('x', undefined),
    petByReference('x', undefined),
    petsByName({ prefix: 'x', status: undefined }, undefined),
    petsInRange({}, undefined),
  ].map((source) => [source, {}]),
  updateWebhook: [[1n, { enabled: true }]],
  findEntriesBefore: [{}, { petId: 1n }].map((filters) => [filters, { day: 'infinity', id: 1n }, 1]),
  sumEntries: [undefined, 'day', 'seller', 'category', 'method', 'kind'].map((by) => [
    by,
    'infinity',
    'infinity',
  ]),
}

/** Stands for any argument: each property, element and result is the same again. */
const anything: unknown = new Proxy(() => {}, {
  get: (_target, key) => {
    if (key === Symbol.iterator) return () => [].values()
    if (key === Symbol.toPrimitive) return () => 1
    return key === 'then' ? undefined : anything
  },
  apply: () => anything,
})
/** A row in which each column is true, so that functions go on after a lock or a check. */
const ROW: unknown = new Proxy({}, { get: (_target, key) => (key === 'then' ? undefined : true) })

type Run = (db: object, ...rest: unknown[]) => Promise<unknown>

/** The statements that a function sends. Its results are wrong, so it may fail afterwards. */
async function sentBy(run: Run, rest: unknown[]): Promise<Statement[]> {
  const sent: Statement[] = []
  const send = async (statement: Statement) => {
    sent.push(statement)
    return [ROW]
  }
  const db = { read: send, write: send, transaction: (work: (tx: object) => unknown) => work(db) }
  await run(db, ...rest).catch(() => {})
  return sent
}

async function sentByFile(file: string, functions: StatementFunction[]): Promise<Statement[]> {
  const exports = (await import(join(ROOT, file))) as Record<string, Run>
  const names = functions.flatMap(({ name, isExported, callers }) => (isExported ? [name] : callers))
  const sent: Statement[] = []
  for (const name of new Set(names)) {
    for (const rest of ARGUMENTS[name] ?? [Array.from({ length: 8 }, () => anything)]) {
      sent.push(...(await sentBy(exports[name] as Run, rest)))
    }
  }
  return sent
}

/** The JavaScript types of values of PostgreSQL, as src/db/connection/pool.ts and node-postgres parse them. The others are strings. */
const TYPES: Record<string, string> = {
  bool: 'boolean',
  bytea: 'Buffer',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  json: 'json',
  jsonb: 'json',
  timestamptz: 'Date',
}
const { rows: types } = await client.query<{ oid: number; name: string; isArray: boolean }>(
  `select oid, typname as name, typcategory = 'A' as "isArray" from pg_type`,
)
const typeNames = new Map(
  types.map(({ oid, name, isArray }) => [oid, isArray ? 'array' : (TYPES[name] ?? 'string')]),
)

/** Asks PostgreSQL for the columns of a statement and their types, without executing it. */
function describeStatement({ text }: Statement): Promise<Record<string, string>> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<Record<string, string>>()
  let columns: Record<string, string> = {}
  const description: Submittable & Record<string, unknown> = {
    submit: (connection: Connection) => {
      connection.parse({ name: '', text, types: [] }, true)
      connection.describe({ type: 'S', name: '' }, true)
      connection.sync()
    },
    handleParseComplete: () => {},
    handleRowDescription: ({ fields }: { fields: { name: string; dataTypeID: number }[] }) => {
      columns = Object.fromEntries(
        fields.map(({ name, dataTypeID }) => [name, typeNames.get(dataTypeID) ?? '']),
      )
    },
    handleReadyForQuery: () => settle(columns),
    handleError: reject,
  }
  client.query(description)
  return promise
}

/** Those that send their statement with a Reader or a Writer. */
const sending = statementFunctions().filter(({ sends }) => sends > 0)
const files = Map.groupBy(sending, ({ file }) => file)

test.each([...files.keys()])('the statements of %s return the columns of their row types', async (file) => {
  const functions = files.get(file) as StatementFunction[]
  const sent = await sentByFile(file, functions)
  for (const { name, columns } of functions) {
    const own = sent.filter((statement) => isNameOf(statement.name, name))
    expect(
      own.length,
      `${name} sends no statement of its name. Add its arguments to ARGUMENTS`,
    ).toBeGreaterThan(0)
    for (const statement of own) {
      const returned = await describeStatement(statement)
      for (const [column, type] of Object.entries(columns ?? {})) {
        const expected = returned[column] === 'json' ? 'json' : type
        expect(returned[column], `type of ${column} in the result of ${statement.name}`).toBe(expected)
      }
    }
  }
  const unknown = sent.filter((statement) => !functions.some(({ name }) => isNameOf(statement.name, name)))
  expect(unknown.map(({ name }) => name)).toEqual([])
})
