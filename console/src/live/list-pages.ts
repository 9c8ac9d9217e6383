// Applies an event of the feed to the pages of a list that was read earlier, so that the list equals a new read of the
// same pages.
import type { Page, Pet, StoreEvent } from '@petstore/client'

export interface ListFilters {
  status?: string | undefined
  categoryId?: string | undefined
  word?: string | undefined
  id?: string[] | undefined
  chipNumber?: string | undefined
  sort?: 'name' | undefined
}

/**
 * Only the service knows the words of a name, the place of a pet in a list by name, the pets with a chip number, and which pets
 * match another filter. Such a list is read again after a change.
 */
export function isReadAgain({
  status: _status,
  categoryId: _category,
  id: _id,
  ...others
}: ListFilters): boolean {
  return Object.values(others).some((value) => value !== undefined)
}

/** Returns the same object if the event changes nothing. */
export function applyToPages(pages: Page<Pet>[], filters: ListFilters, event: StoreEvent): Page<Pet>[] {
  if (event.type === 'pet.deleted') return without(pages, event.petId)
  if (event.type !== 'pet.created' && event.type !== 'pet.updated') return pages
  const { pet } = event
  if (!matches(pet, filters)) return without(pages, pet.id)
  const isListed = pages.some(({ items }) => items.some(({ id }) => id === pet.id))
  if (isListed) return replaced(pages, pet)
  if (isReadAgain(filters)) return pages
  // The time of a pet that was added earlier is known after the next read.
  return inserted(pages, event.type === 'pet.created' ? { ...pet, createdAt: event.occurredAt } : pet)
}

function matches(pet: Pet, { status, categoryId, id }: ListFilters): boolean {
  return (
    (status === undefined || pet.status === status) &&
    (categoryId === undefined || pet.categoryId === categoryId) &&
    (id === undefined || id.includes(pet.id))
  )
}

function without(pages: Page<Pet>[], petId: string): Page<Pet>[] {
  if (!pages.some(({ items }) => items.some(({ id }) => id === petId))) return pages
  return pages.map((page) => ({ ...page, items: page.items.filter(({ id }) => id !== petId) }))
}

function replaced(pages: Page<Pet>[], pet: Pet): Page<Pet>[] {
  return pages.map((page) =>
    page.items.some(({ id }) => id === pet.id)
      ? { ...page, items: page.items.map((item) => (item.id === pet.id ? { ...item, ...pet } : item)) }
      : page,
  )
}

/** Inserts the pet at its place, newest first. A pet after the last page is left out: the next page contains it. */
function inserted(pages: Page<Pet>[], pet: Pet): Page<Pet>[] {
  const pageIndex = pages.findIndex(({ items }) => items.some(({ id }) => isNewer(pet.id, id)))
  const last = pages.at(-1)
  const isAtEnd = pageIndex === -1 && last !== undefined && last.nextCursor === undefined
  const target = isAtEnd ? pages.length - 1 : pageIndex
  if (target === -1) return pages
  return pages.map((page, index) => {
    if (index !== target) return page
    const before = page.items.filter(({ id }) => isNewer(id, pet.id))
    return { ...page, items: [...before, pet, ...page.items.slice(before.length)] }
  })
}

/** Ids are decimal digits. They can exceed 2^53, so they are not compared as numbers. */
function isNewer(one: string, other: string): boolean {
  return one.length === other.length ? one > other : one.length > other.length
}
