// The only way of requests to rows of pets outside a transaction. Batches concurrent reads by id, list pages and creates, and
// coalesces identical list requests.
import { batchTrace } from '../../db/batch-spans.ts'
import {
  type BatchLimits,
  type Coalesce,
  coalesced,
  batched,
  type ObserveBatch,
  WAITING_MAX,
} from '../../db/batch.ts'
import type { Db, Reader } from '../../db/database.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { withReferences } from '../profiles/references.ts'
import { AppError } from '../../contract/errors.ts'
import { runIdempotentBatch, type OnceResult, type IdempotentRequest } from '../idempotency/idempotency.ts'
import { insertNewPets } from './new-pets.ts'
import {
  FILTER_KINDS,
  isIncludingAny,
  type FilterKind,
  filterKind,
  findPetPages,
  findPetsByIds,
  type PetPage,
  type PetPageQuery,
  type PetToInsert,
} from './queries.ts'
import type { VersionedPet } from './schema.ts'

/** A serialised page, and its `Link` header if there is a next page. */
export interface PageResponse {
  body: Buffer
  headers: { link?: string }
}

interface PetToInsertOnce {
  idempotent: IdempotentRequest
  pet: PetToInsert
}

export interface PetTable {
  findPet: (id: bigint) => Promise<VersionedPet | undefined>
  findPage: (page: PetPageQuery) => Promise<PetPage>
  /** For the statements that are not batched. */
  unbatched: Reader
  /** Undefined if another pet has the reference. */
  insertPet: (pet: PetToInsert) => Promise<bigint | undefined>
  /** Inserts the pet of a request with an Idempotency-Key. The response in the outcome is the id of the pet. */
  insertPetOnce: (request: PetToInsertOnce) => Promise<OnceResult>
  coalescePage: Coalesce<PageResponse>
}

const BATCHED: Record<'reads' | 'pages' | 'writes', BatchLimits> = {
  reads: { sizeMax: 100, inFlightMax: 1, waitingMax: WAITING_MAX },
  // 32 pages per statement were faster than 64, and faster than 16 with two statements in flight.
  pages: { sizeMax: 32, inFlightMax: 1, waitingMax: WAITING_MAX },
  writes: { sizeMax: 100, inFlightMax: 1, waitingMax: WAITING_MAX },
}

/** If `isBatching` is false, every request runs its own query. The benchmark uses this as a baseline. */
export function openPetTable(
  db: Db,
  isBatching: boolean,
  connections: number,
  observe: ObserveBatch,
  tracing?: Tracing,
): PetTable {
  const unbatched = { sizeMax: 1, inFlightMax: connections, waitingMax: WAITING_MAX }
  const limits = isBatching ? BATCHED : { reads: unbatched, pages: unbatched, writes: unbatched }

  const inBatches = <Item, Result>(
    kind: string,
    limit: BatchLimits,
    work: (items: Item[]) => Promise<Result[]>,
  ) => batched(work, limit, (...batch) => observe(kind, ...batch), batchTrace(tracing, kind))

  const findPagesOf = (kind: FilterKind) =>
    inBatches('findPage', limits.pages, (pages: PetPageQuery[]) => findPetPages(db, kind, pages))
  const findPageIncluding = Object.fromEntries(
    FILTER_KINDS.map((kind) => [kind, findPagesOf(kind)]),
  ) as Record<FilterKind, PetTable['findPage']>
  const findPage = Object.fromEntries(FILTER_KINDS.map((kind) => [kind, findPagesOf(kind)])) as Record<
    FilterKind,
    PetTable['findPage']
  >

  return {
    findPet: inBatches('findPet', limits.reads, (ids) => findPets(db, ids)),
    findPage: (page) =>
      (isIncludingAny([page]) ? findPageIncluding : findPage)[filterKind(page.filters)](page),
    unbatched: db,
    insertPet: inBatches('insertPet', limits.writes, (pets) => withReferences(() => insertNewPets(db, pets))),
    insertPetOnce: inBatches('insertPetOnce', limits.writes, (requests) => insertPetsOnce(db, requests)),
    coalescePage: isBatching
      ? coalesced(
          { inFlightMax: 1, waitingMax: WAITING_MAX },
          (...batch) => observe('sharePage', ...batch),
          batchTrace(tracing, 'sharePage'),
        )
      : (_key, work) => work(),
  }
}

/** Returns the pets in the order of the ids. */
async function findPets(db: Db, ids: readonly bigint[]): Promise<(VersionedPet | undefined)[]> {
  const found = new Map((await findPetsByIds(db, [...new Set(ids)])).map((pet) => [pet.id, pet]))
  return ids.map((id) => found.get(id))
}

function insertPetsOnce(db: Db, requests: readonly PetToInsertOnce[]): Promise<OnceResult[]> {
  return withReferences(() =>
    runIdempotentBatch(
      db,
      requests.map(({ idempotent }) => idempotent),
      async (tx, indexes) => {
        const pets = indexes.map((index) => (requests[index] as PetToInsertOnce).pet)
        const ids = await insertNewPets(tx, pets)
        return ids.map((id) => (id === undefined ? new AppError('reference_in_use') : String(id)))
      },
    ),
  )
}
