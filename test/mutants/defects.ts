// Defects that the tests must detect. Each is a small change that a developer could make by mistake, with the test that must
// fail.

export interface Defect {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  test: string
  /** Part of the test title, if the whole file takes too long. */
  title?: string
}

export const DEFECTS: readonly Defect[] = [
  // First, because its test takes the longest.
  {
    name: 'requests have no response timeout',
    file: 'src/http/response-timeout.ts',
    find: 'elapsedTime >= timeoutMs',
    replace: 'false',
    test: 'test/failure/response-timeout.test.ts',
  },
  {
    name: '401 has no WWW-Authenticate header',
    file: 'src/http/authentication.ts',
    find: `throw new AppError('missing_api_key', { headers: { 'www-authenticate': CHALLENGE } })`,
    replace: `throw new AppError('missing_api_key')`,
    test: 'test/security/credentials.test.ts',
  },
  {
    name: 'the first of two Authorization headers is used',
    file: 'src/http/authentication.ts',
    find: `if (countHeader(request.raw, 'authorization') > 1) throw invalidApiKey()`,
    replace: '',
    test: 'test/security/credentials.test.ts',
  },
  {
    name: 'scopes are not checked',
    file: 'src/http/authentication.ts',
    find: 'const mayCall = request.is404 ||',
    replace: 'const mayCall = true || request.is404 ||',
    test: 'test/security/scopes.test.ts',
  },
  {
    name: 'a revoked key stays in the cache',
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
    name: 'text that PostgreSQL cannot store is accepted',
    file: 'src/http/validation.ts',
    find: `text.isWellFormed() && !text.includes('\\0')`,
    replace: `text.length >= 0`,
    test: 'test/contract/names.test.ts',
  },
  {
    name: 'ids greater than 2^53 are rounded',
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
    name: 'only one page of rows is read, so a next page is not detected',
    file: 'src/pets/pets.ts',
    find: 'findPage({ ...filters, beforeId: after?.id, max: limit + 1 })',
    replace: 'findPage({ ...filters, beforeId: after?.id, max: limit })',
    test: 'test/contract/paging.test.ts',
  },
  {
    name: 'a request joins a query that is already in flight',
    file: 'src/db/batch.ts',
    find: `    begin(key, group)
    return promise`,
    replace: `    begin(key, group)
    const before = (group as { joined?: Promise<Result> }).joined
    if (before !== undefined) return before
    Object.assign(group, { joined: promise })
    return promise`,
    test: 'test/slow/batching.test.ts',
    title: 'the same check finds stale reads',
  },
  {
    name: 'the queue has no limit',
    file: 'src/db/batch.ts',
    find: `    if (waiting.length >= waitingMax) return Promise.reject(new AppError('overloaded'))`,
    replace: '',
    test: 'test/failure/overload.test.ts',
  },
  {
    name: 'a stalled batch holds up the next one',
    file: 'src/db/batch.ts',
    find: 'STALLED_AFTER_MS = 250',
    replace: 'STALLED_AFTER_MS = 250_000',
    test: 'test/failure/synchronous-replication.test.ts',
    title: 'does not hold up the next create',
  },
  {
    name: 'a create returns before it is committed',
    file: 'src/db/database.ts',
    find: `    await query(client, 'commit')`,
    replace: `    void query(client, 'commit').catch(() => {})`,
    test: 'test/proof/faults',
  },
  {
    name: 'a replay does not wait for a standby',
    file: 'src/idempotency/idempotency.ts',
    find: 'await tx.write(DURABLE_READ)',
    replace: '',
    test: 'test/slow/server-trust.test.ts',
    title: 'a replay waits for a standby',
  },
  {
    name: 'a restarted server is trusted at once',
    file: 'src/db/server-trust.ts',
    find: 'return confirmed.has(incarnation)',
    replace: 'return true',
    test: 'test/slow/server-trust.test.ts',
    title: 'after a crash',
  },
  {
    name: 'a write that may have committed is retried',
    file: 'src/db/database.ts',
    find: `if (failed.failure === 'lost' && current?.mayHaveCommitted === true) {`,
    replace: `if (failed.failure === 'lost' && Number.isNaN(1)) {`,
    test: 'test/failure/database.test.ts',
  },
  {
    name: 'the warning about a commit that was not replicated is ignored',
    file: 'src/db/database.ts',
    find: `if (routine === 'SyncRepWaitForLSN') unreplicated.add(client)`,
    replace: `if (routine === 'none') unreplicated.add(client)`,
    test: 'test/failure/synchronous-replication.test.ts',
  },
  {
    name: 'a lost connection is returned to the pool',
    file: 'src/db/failures.ts',
    find: `return this.failure === 'lost' || POISONING.has(this.state ?? '')`,
    replace: 'return false',
    test: 'test/failure/database.test.ts',
  },
  {
    name: 'two open orders can hold one pet',
    file: 'migrations/0003_store.sql',
    find: 'create unique index orders_one_open_per_pet',
    replace: 'create index orders_one_open_per_pet',
    test: 'test/api/orders.test.ts',
  },
  {
    name: 'expired holds are not swept',
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
    name: 'an Idempotency-Key can be reused for another request',
    file: 'src/idempotency/idempotency.ts',
    find: 'if (before.fingerprint.equals(fingerprints[index] as Buffer))',
    replace: 'if (before.fingerprint.length > 0)',
    test: 'test/contract/idempotency.test.ts',
  },
  {
    name: 'a change adds no history entry',
    file: 'src/pets/pets.ts',
    find: `    await insertHistory(tx, { petId: id, event: 'updated', from, to, reason }, actor)\n`,
    replace: '',
    test: 'test/api/pet-history.test.ts',
  },
  {
    name: 'a deleted pet is still counted',
    file: 'migrations/0003_store.sql',
    find: 'select category_id, status, -count(*) from deleted',
    replace: 'select category_id, status, 0 * count(*) from deleted',
    test: 'test/api/inventory.test.ts',
  },
  {
    name: 'an API key is written to the log',
    file: 'src/http/access-log.ts',
    find: `"operation":"\${operation}",`,
    replace: `"operation":"\${operation}","address":"\${request.url}","key":"\${request.headers.authorization}",`,
    test: 'test/slow/canaries.test.ts',
  },
  {
    name: 'a stream that reconnects skips the events that it missed',
    file: 'src/events/streams.ts',
    find: 'return { events: [], next: start }',
    replace: 'return { events: [], next: { ...start, number: recent?.newest() ?? 0n } }',
    test: 'test/api/event-stream.test.ts',
    title: 'continues after Last-Event-ID',
  },
  {
    name: 'a slow stream skips the events that are no longer in memory',
    file: 'src/events/stream.ts',
    find: 'if (!recent.covers(number)) return false',
    replace: 'if (!recent.covers(number)) number = recent.newest()',
    test: 'test/api/event-stream.test.ts',
    title: 'too far behind',
  },
  {
    name: 'a stream without orders:read gets the bytes of one with it',
    file: 'src/events/recent.ts',
    find: 'const key = `${number} ${filter.showActors} ',
    replace: 'const key = `${number} ',
    test: 'test/api/event-stream.test.ts',
    title: 'hides orders and actors',
  },
  {
    name: 'a stream outlives its key',
    file: 'src/events/streams.ts',
    find: 'if (!valid.has(stream.apiKeyId)) stream.cut()',
    replace: 'void stream',
    test: 'test/api/event-stream.test.ts',
    title: 'ends within a second',
  },
  {
    name: 'streams count as requests in flight',
    file: 'src/events/routes.ts',
    find: 'stopCounting(app.server, reply.raw)',
    replace: '',
    test: 'test/api/event-stream.test.ts',
    title: 'in flight',
  },
  {
    name: 'responses have no Sunset header',
    file: 'src/pets/deprecation.ts',
    find: 'reply.headers({ deprecation, sunset,',
    replace: 'reply.headers({ deprecation,',
    test: 'test/contract/get-pet.test.ts',
  },
  {
    name: 'an unacknowledged write releases its connection',
    file: 'src/db/database.ts',
    find: 'if (current?.isCommitting && failed?.cause instanceof NoResponse) {',
    replace: 'if (current?.isCommitting && false) {',
    test: 'test/failure/synchronous-replication.test.ts',
  },
  {
    name: 'the code of a socket error is treated as a SQLSTATE',
    file: 'src/db/failures.ts',
    find: 'error instanceof DatabaseError ? error.code : undefined',
    replace: '(error as { code?: string }).code',
    test: 'test/failure/lost-connections.test.ts',
  },
  {
    name: 'the key of coalesced lists lacks a parameter',
    file: 'src/http/query-key.ts',
    find: 'for (const name of names) key',
    replace: 'for (const name of names.slice(1)) key',
    test: 'test/api/coalesced-lists.test.ts',
  },
  {
    name: 'the stream skips on reconnect: it continues with the newest event',
    file: 'client/src/follow.ts',
    find: `after: progress.position, type }`,
    replace: `after: progress.attempts > 1 ? 'latest' : progress.position, type }`,
    test: 'test/client/events.test.ts',
    title: '2,000 events',
  },
  {
    name: 'the stream skips on reconnect: the position of an incomplete event counts',
    file: 'client/src/sse.ts',
    find: '    return messages',
    replace: '    return message.id ? [...messages, { id: message.id }] : messages',
    test: 'test/client/follow.test.ts',
    title: 'breaks at any byte',
  },
  {
    name: 'the stream skips on reconnect: it has no position before its first event',
    file: 'client/src/follow.ts',
    find: `if (after === 'latest') {`,
    replace: `if (after === 'none') {`,
    test: 'test/client/follow.test.ts',
    title: 'is resolved to a position first',
  },
  {
    name: 'a stream that hangs is not noticed',
    file: 'client/src/stream.ts',
    find: 'await withTimeout(reader.read())',
    replace: 'await reader.read()',
    test: 'test/client/follow.test.ts',
    title: 'no byte arrives',
  },
  {
    name: 'the sequencer skips changes that commit late',
    file: 'src/events/queries.ts',
    find: "case when reached.gaps_have_ended then '{}' else state.gaps end",
    replace: "case when true then '{}' else state.gaps end",
    test: 'test/api/event-sequencer.test.ts',
  },
  {
    name: 'the feed shows events that no standby has',
    file: 'src/events/durable.ts',
    find: 'if (server === null) return true',
    replace: 'if (server !== undefined) return true',
    test: 'test/failure/synchronous-replication.test.ts',
    title: 'the feed shows no event that no standby has',
  },
  {
    name: 'a position of another epoch is accepted',
    file: 'src/events/feed.ts',
    find: 'start.epoch === epoch && start.number >= afterNumber',
    replace: 'start.number >= afterNumber',
    test: 'test/api/event-positions.test.ts',
  },
  {
    name: 'a position whose next events were deleted is accepted',
    file: 'src/events/feed.ts',
    find: 'if (!isKnown || !isStored) throw',
    replace: 'if (!isKnown) throw',
    test: 'test/api/event-positions.test.ts',
  },
  {
    name: 'a reader without orders:read sees who made a change',
    file: 'src/events/routes.ts',
    find: `showActors: caller.scopes.includes('orders:read')`,
    replace: 'showActors: true',
    test: 'test/api/event-positions.test.ts',
  },
  {
    name: 'the events of a rare type are found by reading all others',
    file: 'src/events/queries.ts',
    find: `            where (event_numbers.type, first_number) > (wanted.type, state.number)
              and (event_numbers.type, first_number) <= (wanted.type, \${INT64_MAX})
            order by event_numbers.type, first_number
`,
    replace: `            where event_numbers.type = wanted.type and first_number > state.number
            order by first_number
`,
    test: 'test/slow/event-plans.test.ts',
  },
  {
    name: 'the sequencer forgets the ids of transactions in flight',
    file: 'src/events/queries.ts',
    find: `+ int8multirange(int8range(state.scanned_to, reached.id, '(]')) - reached.ids as gaps`,
    replace: '- reached.ids as gaps',
    test: 'test/api/event-sequencer.test.ts',
  },
  {
    name: '"order.placed" gets its id before the pet changes',
    file: 'migrations/0006_events.sql',
    find: 'deferrable initially deferred for each row execute function record_placed_order()',
    replace: 'for each row execute function record_placed_order()',
    test: 'test/proof/model/sequences.test.ts',
  },
  {
    name: 'an event is written outside the transaction of its change, which is rolled back',
    file: 'src/pets/pets.ts',
    find: `    if (await hasOrders(tx, id)) throw new AppError('pet_has_orders')`,
    replace: `    if (await hasOrders(tx, id)) {
      const text = "insert into outbox (type, count, pet_ids) values ('pet.deleted', 1, array[$1::bigint])"
      await db.write({ name: 'publish_deletion', text, values: [id] })
      throw new AppError('pet_has_orders')
    }`,
    test: 'test/proof/model/sequences.test.ts',
  },
  {
    name: 'a deletion by hand has no event',
    file: 'migrations/0006_events.sql',
    find: `create trigger record_deleted after delete on pets
  referencing old table as deleted for each statement execute function record_deleted_pets();`,
    replace: '',
    test: 'test/api/event-sequencer.test.ts',
  },
  {
    name: 'the actor of a change outlives its transaction',
    file: 'src/actor.ts',
    find: `set_config('petstore.api_key_id', $\${first}, true), set_config('petstore.request_id', $\${first + 1}, true)`,
    replace: `set_config('petstore.api_key_id', $\${first}, false), set_config('petstore.request_id', $\${first + 1}, false)`,
    test: 'test/api/event-actors.test.ts',
  },
  {
    name: 'the event of an update has no actor',
    file: 'src/pets/queries.ts',
    find: `      from \${actorFrom(5)}
      where id = $1 returning version`,
    replace: `      from (select $5::text, $6::text) as nobody
      where id = $1 returning version`,
    test: 'test/proof/model/sequences.test.ts',
  },
  {
    name: 'a search by name ignores the status',
    file: 'src/pets/queries.ts',
    find: 'status === undefined ? PET_STATUSES : [status]',
    replace: 'PET_STATUSES',
    test: 'test/api/name-search.test.ts',
  },
  {
    name: 'a forged cursor of the open orders by expiry causes an error of the database',
    file: 'src/orders/orders.ts',
    find: `if (!/^[0-9]{1,16}$/.test(sortKey)) throw new AppError('invalid_cursor')`,
    replace: '',
    test: 'test/api/list-orders.test.ts',
  },
]
