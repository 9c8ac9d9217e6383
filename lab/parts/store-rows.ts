// Reads the pets and orders of a database, a page at a time, because a full run creates about 700,000 pets.
import type { Client } from 'pg'

const PAGE_ROWS = 20_000

export interface PetRow {
  id: number
  name: string
  categoryId: number
  status: string
  version: number
}

export interface OrderRow {
  id: number
  petId: number
  status: string
  /** Empty if the order has none. */
  note: string
}

export function readPets(client: Client): AsyncGenerator<PetRow[]> {
  return readPages(
    client,
    `select id::float8 as id, name, category_id::float8 as "categoryId", status, version from pets
    where id > $1 order by id limit $2`,
  )
}

export function readOrders(client: Client): AsyncGenerator<OrderRow[]> {
  return readPages(
    client,
    `select id::float8 as id, pet_id::float8 as "petId", status, coalesce(note, '') as note from orders
    where id > $1 order by id limit $2`,
  )
}

async function* readPages<Row extends { id: number }>(client: Client, text: string): AsyncGenerator<Row[]> {
  for (let after = 0, isLast = false; !isLast; ) {
    const rows = (await client.query(text, [after, PAGE_ROWS])).rows as Row[]
    isLast = rows.length < PAGE_ROWS
    after = rows.at(-1)?.id ?? after
    yield rows
  }
}

/** All pages as one list. */
export async function allRows<Row>(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  return (await Array.fromAsync(pages)).flat()
}
