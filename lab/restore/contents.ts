// Reads what a database contains: the pets and orders, a checksum of every table, and a checksum of the event feed.
import type { Client } from 'pg'
import { allRows, readOrders, readPets } from '../parts/store-rows.ts'
import type { RestoredRows } from './compare.ts'

export interface TableContent {
  rows: number
  /** Does not depend on the order of the rows. */
  checksum: string
}

export type Contents = Record<string, TableContent>

export interface FeedContent extends TableContent {
  /** Number of the newest event. */
  newest: number
}

export async function readRows(client: Client): Promise<RestoredRows> {
  return { pets: await allRows(readPets(client)), orders: await allRows(readOrders(client)) }
}

/** Every table of the service, in one snapshot. */
export async function readContents(client: Client): Promise<Contents> {
  const contents: Contents = {}
  await client.query('begin isolation level repeatable read, read only')
  const { rows: tables } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
  )
  for (const { name } of tables) {
    const { rows } = await client.query<TableContent>(
      `select count(*)::float8 as rows, coalesce(sum(hashtextextended(t::text, 0)), 0)::text as checksum from ${name} t`,
    )
    if (rows[0]) contents[name] = rows[0]
  }
  await client.query('commit')
  return contents
}

/** The events up to a number: all events that this database has, unless `upTo` is given. */
export async function readFeed(client: Client, upTo: number | null = null): Promise<FeedContent> {
  const { rows } = await client.query<FeedContent>(
    `select count(*)::float8 as rows, coalesce(max(first_number), 0)::float8 as newest,
      coalesce(sum(hashtextextended(concat(n.first_number, n.count, n.type, o::text), 0)), 0)::text as checksum
    from event_numbers n join outbox o on o.id = n.outbox_id
    where $1::bigint is null or n.first_number <= $1`,
    [upTo],
  )
  const [feed] = rows
  if (feed === undefined) throw new Error('the feed cannot be read')
  return feed
}

/** Names the tables that differ. */
export function differingTables(one: Contents, other: Contents): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => one[name]?.rows !== other[name]?.rows || one[name]?.checksum !== other[name]?.checksum,
  )
}
