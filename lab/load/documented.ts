// The responses that the documentation of each operation promises, as far as the load can cause them.

export type OperationName =
  | 'createPet'
  | 'updatePet'
  | 'placeOrder'
  | 'completeOrder'
  | 'cancelOrder'
  | 'listPets'
  | 'getOrder'
  | 'getInventory'
  | 'listEvents'

const NOTHING_CHANGED = ['503 unavailable', '503 overloaded']
const WRITE_FAILED = [...NOTHING_CHANGED, '503 outcome_unknown']
/** buyers.ts checks whether these two are allowed. */
const ORDER_GONE = ['404 order_not_found', '409 order_closed']

const DOCUMENTED: Record<OperationName, ReadonlySet<string>> = {
  createPet: new Set(['201', '409 idempotency_key_in_use', ...WRITE_FAILED]),
  updatePet: new Set(['200', '404 pet_not_found', '412 precondition_failed', ...WRITE_FAILED]),
  placeOrder: new Set([
    '201',
    '404 pet_not_found',
    '409 idempotency_key_in_use',
    '409 pet_not_available',
    ...WRITE_FAILED,
  ]),
  completeOrder: new Set(['200', ...ORDER_GONE, ...WRITE_FAILED]),
  cancelOrder: new Set(['200', ...ORDER_GONE, ...WRITE_FAILED]),
  listPets: new Set(['200', ...NOTHING_CHANGED]),
  // readers.ts reports 404.
  getOrder: new Set(['200', '404 order_not_found', ...NOTHING_CHANGED]),
  getInventory: new Set(['200', ...NOTHING_CHANGED]),
  // feed-follower.ts reports 410.
  listEvents: new Set(['200', '410 events_expired', ...NOTHING_CHANGED]),
}
const NEED_RETRY_AFTER = new Set([...WRITE_FAILED, '409 idempotency_key_in_use'])

/** Says what is undocumented about a response; undefined if nothing is. `result` is the status and the error code. */
export function undocumented(
  operation: OperationName,
  result: string,
  retryAfter: string | undefined,
): string | undefined {
  if (!DOCUMENTED[operation].has(result)) return `${operation} returned ${result}`
  if (!NEED_RETRY_AFTER.has(result) || /^\d+$/.test(retryAfter ?? '')) return undefined
  return `${operation} returned ${result} without Retry-After`
}

/** Whether the response promises that the request changed nothing. */
export function changedNothing(result: string): boolean {
  return (
    NOTHING_CHANGED.includes(result) || (/^4\d\d /.test(result) && result !== '409 idempotency_key_in_use')
  )
}
