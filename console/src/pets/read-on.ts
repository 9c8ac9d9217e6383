// Reads the next pets of a search.
import type { Page, Pet } from '@petstore/client'

/** A page of a search can be empty although more pets follow. Reads on until a page has pets or is the last one. */
export async function readOn(
  read: (cursor: string | undefined) => Promise<Page<Pet>>,
  cursor: string | undefined,
): Promise<Page<Pet>> {
  const page = await read(cursor)
  return page.items.length === 0 && page.nextCursor !== undefined ? readOn(read, page.nextCursor) : page
}
