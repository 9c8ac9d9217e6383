// Defects that the tests must see: each is one small change that a person could make, and the test that fails then.

export interface Defect {
  name: string
  file: string
  /** Stands there exactly once. */
  find: string
  replace: string
  test: string
  /** Part of the title, where the whole file would take long. */
  title?: string
}

export const DEFECTS: readonly Defect[] = [
  {
    name: '401 without WWW-Authenticate',
    file: 'src/http/authentication.ts',
    find: `throw new AppError('missing_api_key', { headers: { 'www-authenticate': CHALLENGE } })`,
    replace: `throw new AppError('missing_api_key')`,
    test: 'test/contract/authentication.test.ts',
  },
  {
    name: 'the first of two Authorization headers counts',
    file: 'src/http/authentication.ts',
    find: `if (countHeader(request.raw, 'authorization') > 1) throw invalidApiKey()`,
    replace: '',
    test: 'test/security/credentials.test.ts',
  },
  {
    name: 'scopes are not looked at',
    file: 'src/http/authentication.ts',
    find: 'const mayCall = request.is404 ||',
    replace: 'const mayCall = true || request.is404 ||',
    test: 'test/security/scopes.test.ts',
  },
  {
    name: 'a revoked key is believed for ever',
    file: 'src/api-keys/api-keys.ts',
    find: 'const BELIEVED_FOR_MS = 1_000',
    replace: 'const BELIEVED_FOR_MS = 1_000_000',
    test: 'test/api/api-keys.test.ts',
  },
  {
    name: 'values of another type are coerced',
    file: 'src/http/validation.ts',
    find: 'new Ajv({ allErrors: true,',
    replace: 'new Ajv({ coerceTypes: true, allErrors: true,',
    test: 'test/contract/create-pet.test.ts',
  },
  {
    name: 'text that PostgreSQL cannot keep is let through',
    file: 'src/http/validation.ts',
    find: `text.isWellFormed() && !text.includes('\\0')`,
    replace: `text.length >= 0`,
    test: 'test/contract/names.test.ts',
  },
  {
    name: 'ids beyond 2^53 are rounded',
    file: 'src/db/pool.ts',
    find: `format !== 'binary' ? BigInt :`,
    replace: `format !== 'binary' ? (text: string) => BigInt(Number(text)) :`,
    test: 'test/contract/category-ids.test.ts',
  },
  {
    name: 'a cursor is not bound to its filters',
    file: 'src/paging.ts',
    find: `!bytes.subarray(FILTERS_AT, SORT_KEY_AT).equals(filtersMark(filters)) ||`,
    replace: '',
    test: 'test/contract/paging.test.ts',
  },
  {
    name: 'no more than a page is read, so the last one is not known',
    file: 'src/pets/pets.ts',
    find: 'findPetsBefore(db, filters, after?.id, limit + 1)',
    replace: 'findPetsBefore(db, filters, after?.id, limit)',
    test: 'test/contract/paging.test.ts',
  },
  {
    name: 'a request joins a query that is already in flight',
    file: 'src/db/batch.ts',
    find: `    if (!group.isRunning) void run(key, group)
    return promise`,
    replace: `    if (!group.isRunning) void run(key, group)
    const before = (group as { joined?: Promise<Result> }).joined
    if (before !== undefined) return before
    Object.assign(group, { joined: promise })
    return promise`,
    test: 'test/slow/batching.test.ts',
    title: 'the same watch sees stale reads',
  },
  {
    name: 'the queue has no end',
    file: 'src/db/batch.ts',
    find: `    if (waiting.length >= waitingMax) return Promise.reject(new AppError('overloaded'))`,
    replace: '',
    test: 'test/failure/overload.test.ts',
  },
  {
    name: 'a create is answered before it is committed',
    file: 'src/db/database.ts',
    find: `        await query(client, 'commit')`,
    replace: `        void query(client, 'commit').catch(() => {})`,
    test: 'test/proof/faults',
  },
  {
    name: 'what may have been committed is done again',
    file: 'src/db/database.ts',
    find: `if (failed.failure === 'lost' && current?.mayHaveCommitted === true) {`,
    replace: `if (failed.failure === 'lost' && Number.isNaN(1)) {`,
    test: 'test/failure/database.test.ts',
  },
  {
    name: 'the warning of a commit that was not replicated is ignored',
    file: 'src/db/database.ts',
    find: `if (routine === 'SyncRepWaitForLSN') unreplicated.add(client)`,
    replace: `if (routine === 'none') unreplicated.add(client)`,
    test: 'test/failure/synchronous-replication.test.ts',
  },
  {
    name: 'a lost connection goes back to the pool',
    file: 'src/db/failures.ts',
    find: `return this.failure === 'lost' || POISONING.has(this.state ?? '')`,
    replace: 'return false',
    test: 'test/failure/database.test.ts',
  },
  {
    name: 'two open orders may hold one animal',
    file: 'migrations/0003_store.sql',
    find: 'create unique index orders_one_open_per_pet',
    replace: 'create index orders_one_open_per_pet',
    test: 'test/api/orders.test.ts',
  },
  {
    name: 'holds never end by themselves',
    file: 'src/orders/holds.ts',
    find: 'ended = await expireOrders(db, requestId, SWEEP_BATCH)',
    replace: 'ended = 0',
    test: 'test/api/holds.test.ts',
  },
  {
    name: 'If-Match is not compared',
    file: 'src/http/etag.ts',
    find: 'return (version) => tags.has(etag(version))',
    replace: 'return (version) => tags.has(etag(version)) || true',
    test: 'test/api/update-pet.test.ts',
  },
  {
    name: 'an Idempotency-Key may be used for something else',
    file: 'src/idempotency/idempotency.ts',
    find: 'if (before.fingerprint.equals(fingerprints[index] as Buffer))',
    replace: 'if (before.fingerprint.length > 0)',
    test: 'test/contract/idempotency.test.ts',
  },
  {
    name: 'a change leaves no history',
    file: 'src/pets/pets.ts',
    find: `    await insertHistory(tx, { petId: id, event: 'updated', from, to, reason }, actor)\n`,
    replace: '',
    test: 'test/api/pet-history.test.ts',
  },
  {
    name: 'an animal that was removed is still counted',
    file: 'migrations/0003_store.sql',
    find: 'select category_id, status, -count(*) from deleted',
    replace: 'select category_id, status, 0 * count(*) from deleted',
    test: 'test/api/inventory.test.ts',
  },
  {
    name: 'a key is written to the log',
    file: 'src/http/access-log.ts',
    find: `"operation":"\${operation}",`,
    replace: `"operation":"\${operation}","address":"\${request.url}","key":"\${request.headers.authorization}",`,
    test: 'test/slow/canaries.test.ts',
  },
  {
    name: 'no answer says when an operation will be removed',
    file: 'src/pets/deprecation.ts',
    find: 'reply.headers({ deprecation, sunset,',
    replace: 'reply.headers({ deprecation,',
    test: 'test/contract/get-pet.test.ts',
  },
  {
    name: 'a request may wait for ever',
    file: 'src/http/response-timeout.ts',
    find: 'if (reply.elapsedTime < mostMs) return',
    replace: 'return',
    test: 'test/failure/response-timeout.test.ts',
  },
  {
    name: 'a write without a response gives its connection away',
    file: 'src/db/database.ts',
    find: 'if (current?.isCommitting && failed?.cause instanceof NoResponse) {',
    replace: 'if (current?.isCommitting && false) {',
    test: 'test/failure/synchronous-replication.test.ts',
  },
  {
    name: 'the code of a socket error is taken for a SQLSTATE',
    file: 'src/db/failures.ts',
    find: 'error instanceof DatabaseError ? error.code : undefined',
    replace: '(error as { code?: string }).code',
    test: 'test/failure/lost-connections.test.ts',
  },
  {
    name: 'a parameter is left out of the key by which lists share a query',
    file: 'src/http/query-key.ts',
    find: 'for (const name of names) key',
    replace: 'for (const name of names.slice(1)) key',
    test: 'test/api/coalesced-lists.test.ts',
  },
]
