// Batches concurrent reads by id, list pages and creates, and coalesces identical list requests.
import { batchTrace } from '../../db/batch-spans.ts'
import { type BatchLimits, type Coalesce, coalesced, batched } from '../../db/batch.ts'
import type { Db } from '../../db/database.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { doManyOnce, type OnceResult, type IdempotentRequest } from '../idempotency/idempotency.ts'
import {
  FILTER_KINDS,
  type FilterKind,
  filterKind,
  findPetPages,
  findPetsByIds,
  insertPets,
  type PetPageQuery,
  type PetRows,
  type PetToInsert,
} from './queries.ts'
import type { VersionedPet } from './schema.ts'

/** A serialised page, and its `Link` header if there is a next page. */
export interface PageResponse {
  body: Buffer
  headers: { link?: string }
}

export interface PetBatches {
  findPet: (id: bigint) => Promise<VersionedPet | undefined>
  findPage: (page: PetPageQuery) => Promise<PetRows>
  insertPet: (pet: PetToInsert) => Promise<bigint>
  /** Inserts the pet of a request with an Idempotency-Key. The response in the outcome is the id of the pet. */
  insertPetOnce: (request: { idempotent: IdempotentRequest; pet: PetToInsert }) => Promise<OnceResult>
  coalescePage: Coalesce<PageResponse>
}

export const WAITING_MAX = 2_000

const BATCHED: Record<'reads' | 'pages' | 'writes', BatchLimits> = {
  reads: { sizeMax: 100, inFlightMax: 1, waitingMax: WAITING_MAX },
  // 32 pages per statement were faster than 64, and faster than 16 with two statements in flight.
  pages: { sizeMax: 32, inFlightMax: 1, waitingMax: WAITING_MAX },
  writes: { sizeMax: 100, inFlightMax: 1, waitingMax: WAITING_MAX },
}

export type ObserveBatch = (kind: string, size: number, waitSeconds: number) => void

/** If `isBatching` is false, every request runs its own query. The benchmark uses this as a baseline. */
export function openPetBatches(
  db: Db,
  isBatching: boolean,
  connections: number,
  observe: ObserveBatch,
  tracing?: Tracing,
): PetBatches {
  const unbatched = { sizeMax: 1, inFlightMax: connections, waitingMax: WAITING_MAX }
  const limits = isBatching ? BATCHED : { reads: unbatched, pages: unbatched, writes: unbatched }

  async function findPets(ids: bigint[]): Promise<(VersionedPet | undefined)[]> {
    const found = new Map((await findPetsByIds(db, [...new Set(ids)])).map((pet) => [pet.id, pet]))
    return ids.map((id) => found.get(id))
  }

  const findPagesOf = (kind: FilterKind) =>
    batched(
      (pages: PetPageQuery[]) => findPetPages(db, kind, pages),
      limits.pages,
      (...batch) => observe('findPage', ...batch),
      batchTrace(tracing, 'findPage'),
    )
  const findPage = Object.fromEntries(FILTER_KINDS.map((kind) => [kind, findPagesOf(kind)])) as Record<
    FilterKind,
    PetBatches['findPage']
  >

  const insertOnce = (requests: { idempotent: IdempotentRequest; pet: PetToInsert }[]) =>
    doManyOnce(
      db,
      requests.map(({ idempotent }) => idempotent),
      async (tx, indexes) => {
        const ids = await insertPets(
          tx,
          indexes.map((index) => (requests[index] as { pet: PetToInsert }).pet),
        )
        return ids.map(String)
      },
    )

  return {
    findPet: batched(
      findPets,
      limits.reads,
      (...batch) => observe('findPet', ...batch),
      batchTrace(tracing, 'findPet'),
    ),
    findPage: (page) => findPage[filterKind(page.filters)](page),
    insertPet: batched(
      (pets) => insertPets(db, pets),
      limits.writes,
      (...batch) => observe('insertPet', ...batch),
      batchTrace(tracing, 'insertPet'),
    ),
    insertPetOnce: batched(
      insertOnce,
      limits.writes,
      (...batch) => observe('insertPetOnce', ...batch),
      batchTrace(tracing, 'insertPetOnce'),
    ),
    coalescePage: isBatching
      ? coalesced(WAITING_MAX, (...batch) => observe('sharePage', ...batch), batchTrace(tracing, 'sharePage'))
      : (_key, work) => work(),
  }
}
