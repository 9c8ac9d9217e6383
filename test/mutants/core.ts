// The defects that every merge plants, by the promise that they break. The nightly run plants all of them.

/** More would take longer than the tests that they prove. */
export const CORE_MAX = 60

export const CORE: Readonly<Record<string, readonly string[]>> = {
  'the contract is exact': [
    '401 has no WWW-Authenticate header',
    'values of another type are coerced',
    'text that PostgreSQL cannot store is accepted',
    'ids greater than 2^53 are rounded',
    'a cursor is not bound to its filters',
    'only one page of rows is read, so a next page is not detected',
    'responses have no Sunset header',
  ],
  'nothing acknowledged is lost or duplicated': [
    'a create returns before it is committed',
    'a replay does not wait for a standby',
    'a write that may have committed is retried',
    'the warning about a commit that was not replicated is ignored',
    'a restarted server is trusted at once',
    'an unacknowledged write releases its connection',
    'an Idempotency-Key can be reused for another request',
    'many changes with an Idempotency-Key are made again by a retry',
    'the console adds the pets of a file again after a lost connection',
    'an export that fails ends like a complete one',
    'the client takes an export that has timed out for complete',
  ],
  'a pet is sold once': [
    'two open orders can hold one pet',
    'expired holds are not swept',
    'reads do not wait for a sweep of expired holds',
    'If-Match is not compared',
    'a request joins a query that is already in flight',
    'a change adds no history entry',
    'a deleted pet is still counted',
  ],
  'every cent is accounted for': [
    'the price of a profile loses its decimal places',
    'an Idempotency-Key accepts another price',
    'placing an order takes a price of the profile that was replaced while it waited',
    'the sum of the sales is rounded',
    'a void does not lock the till, so that its day can be closed meanwhile',
    'the console adds up prices of different currencies',
    'a form of the console overwrites the price of another person',
  ],
  'the feed is complete and in order': [
    'the sequencer skips changes that commit late',
    'the feed shows events that no standby has',
    '"order.placed" gets its id before the pet changes',
    'a stream that reconnects skips the events that it missed',
    'a deletion by hand has no event',
  ],
  'webhooks deliver every event in the order of its pet': [
    'messages of one pet are sent at the same time',
    'the position moves on before the receiver has responded',
    'a process takes the lease of another one',
    'a failed message is never retried',
    'a delivered message blocks its pet',
    'a failed save loses its results and retries',
  ],
  'nobody sees or does more than allowed': [
    'scopes are not checked',
    'one of several scopes is enough',
    'a revoked key stays in the cache',
    'a key without orders:read sees the sales',
    'a stream without orders:read gets the bytes of one with it',
    'the note of an order leaves the store',
    'an API key is written to the log',
    'the signature of the ID token is not verified',
    'a changed cookie of a sign-in is accepted',
    'an unverified email address gives a role',
    'privileges of PUBLIC are not taken back',
    'too many privileges are only a warning',
  ],
  'the service connects to no internal address': [
    'the addresses of a name are not checked',
    'redirects are followed',
    'certificates are not verified',
  ],
  'everything has a limit': ['the queue has no limit', 'large responses have no limit together'],
}

export const CORE_NAMES: readonly string[] = Object.values(CORE).flat()
