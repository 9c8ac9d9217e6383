// SQL statements on actors: the programs and people that can change something.
import type { Tx } from '../../db/database.ts'

export async function insertProgram(tx: Tx, name: string): Promise<bigint> {
  const [row] = await tx.write<{ id: bigint }>({
    name: 'insert_program',
    bounded: 'by the given rows',
    text: `insert into actors (kind, name) values ('program', $1) returning id`,
    values: [name],
  })
  return (row as { id: bigint }).id
}

/**
 * Returns the actor of a person, whose name is that of the newest sign-in. Locks it, so that two sign-ins of a person
 * follow each other.
 */
export async function upsertPerson(tx: Tx, subject: string, name: string): Promise<bigint> {
  const [row] = await tx.write<{ id: bigint }>({
    name: 'upsert_person',
    bounded: 'by the given rows',
    text: `insert into actors (kind, subject, name) values ('person', $1, $2)
      on conflict (subject) do update set name = excluded.name
      returning id`,
    values: [subject, name],
  })
  return (row as { id: bigint }).id
}
