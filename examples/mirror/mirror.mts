// Keeps a copy of all pets and their prices in the SQLite database mirror.db: copies them, then applies every later change.
// docs/events.md shows how to run it.
import { DatabaseSync } from 'node:sqlite'
import { type Pet, type PetProfile, Petstore, PetstoreError } from '@petstore/client'

const { PETSTORE_URL, PETSTORE_API_KEY = '' } = process.env
const store = new Petstore({ baseUrl: `${PETSTORE_URL}/v1`, apiKey: PETSTORE_API_KEY })
const db = new DatabaseSync('mirror.db')
db.exec('create table if not exists pets (id text primary key, name text, category_id text, status text)')
db.exec('create table if not exists prices (pet_id text primary key, price text, currency text)')
db.exec('create table if not exists progress (position text)')

const put = ({ id, name, categoryId, status }: Pet) =>
  db.prepare('insert or replace into pets values (?, ?, ?, ?)').run(id, name, categoryId, status)
const putPrice = ({ petId, price, currency }: PetProfile) =>
  db.prepare('insert or replace into prices values (?, ?, ?)').run(petId, price ?? null, currency ?? null)

function remove(id: string): void {
  db.prepare('delete from pets where id = ?').run(id)
  db.prepare('delete from prices where pet_id = ?').run(id)
}

function commit(position: string, change: () => void): void {
  db.exec('begin; delete from progress')
  change()
  db.prepare('insert into progress values (?)').run(position)
  db.exec('commit')
}

/** Reads the position before the pets. Changes that happen while it reads them are then applied a second time, in order. */
async function copyAllPets(): Promise<string> {
  const { next } = await store.events.list({ after: 'latest', limit: 1 })
  const pets: Pet[] = []
  for await (const pet of store.pets.list()) pets.push(pet)
  const profiles: PetProfile[] = []
  for (let at = 0; at < pets.length; at += 100) {
    profiles.push(...(await store.pets.profiles({ petId: pets.slice(at, at + 100).map(({ id }) => id) })))
  }
  commit(next, () => {
    db.exec('delete from pets; delete from prices')
    pets.forEach(put)
    profiles.forEach(putPrice)
  })
  console.log(`Copied ${pets.length} pets.`)
  return next
}

for (;;) {
  const saved = db.prepare('select position from progress').get()?.['position']
  const after = typeof saved === 'string' ? saved : await copyAllPets()
  console.log('Following changes.')
  try {
    for await (const event of store.events.follow({ after })) {
      commit(event.position, () => {
        if (event.pet !== undefined) put(event.pet)
        else if (event.profile !== undefined) putPrice(event.profile)
        else if (event.type === 'pet.deleted') remove(event.petId)
      })
      console.log(event.type, event.petId, event.pet?.name ?? '')
    }
  } catch (error) {
    if (!(error instanceof PetstoreError) || error.code !== 'events_expired') throw error
    db.exec('delete from progress')
  }
}
