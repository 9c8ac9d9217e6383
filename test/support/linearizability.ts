// Checks linearizability: whether the responses could result from running the operations one after another, each at some
// time between its call and its return. Uses the search of Wing and Gong with Lowe's cache, like Porcupine. Check one
// object at a time: a store is linearizable if each of its objects is.

export interface Operation<Input, Output> {
  input: Input
  output: Output
  calledAt: number
  returnedAt: number
}

export interface Specification<State, Input, Output> {
  initial: State
  /** The state after the operation; undefined if this state does not allow the output. Must not change `state`. */
  step: (state: State, input: Input, output: Output) => State | undefined
  /** Whether an operation with this output leaves every state unchanged. */
  changesNothing: (input: Input, output: Output) => boolean
  /** Equal for equal states. */
  keyOf: (state: State) => string
}

export interface Stuck<Input, Output> {
  /** The longest order of operations that the specification allows. */
  longest: Operation<Input, Output>[]
  /** The operations that could come next; none of them is allowed. */
  candidates: Operation<Input, Output>[]
}

/** A call or a return. The events of operations that have no place in the order yet form a linked list. */
interface Event<Input, Output> {
  operation: Operation<Input, Output>
  /** The position of the operation, sorted by call. */
  index: number
  /** The return of this call; undefined if this is a return. */
  itsReturn: Event<Input, Output> | undefined
  before: Event<Input, Output> | undefined
  next: Event<Input, Output> | undefined
}

/** Returns undefined if the history is linearizable. */
export function findContradiction<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { initial, step, changesNothing, keyOf }: Specification<State, Input, Output>,
): Stuck<Input, Output> | undefined {
  const head = listOf(history)
  const ordered: { call: Event<Input, Output>; stateBefore: State }[] = []
  const chosen = new Set<number>()
  const tried = new Set<string>()
  let state = initial
  let stuck: Stuck<Input, Output> | undefined

  for (let event = head.next; event !== undefined; ) {
    if (event.itsReturn === undefined) {
      // This operation has returned, so it must come before this point. An earlier choice was wrong.
      if (stuck === undefined || ordered.length > stuck.longest.length) {
        stuck = { longest: ordered.map(({ call }) => call.operation), candidates: candidatesAt(head) }
      }
      const wrong = takeBack()
      if (wrong === undefined) return stuck
      event = wrong.next
      continue
    }
    const { input, output } = event.operation
    const after = step(state, input, output)
    if (after === undefined || !isNew(event.index, after)) {
      event = event.next
      continue
    }
    ordered.push({ call: event, stateBefore: state })
    chosen.add(event.index)
    state = after
    takeOut(event)
    event = head.next
  }
  return undefined

  /** Undoes the last choice of an operation that changes the state. Placing any other operation later never helps. */
  function takeBack(): Event<Input, Output> | undefined {
    for (let last = ordered.pop(); last !== undefined; last = ordered.pop()) {
      state = last.stateBefore
      chosen.delete(last.call.index)
      putBack(last.call)
      const { input, output } = last.call.operation
      if (!changesNothing(input, output)) return last.call
    }
    return undefined
  }

  /** Whether these operations have not led to this state before, in another order. */
  function isNew(added: number, after: State): boolean {
    const isIn = (index: number) => index === added || chosen.has(index)
    // All operations before the first remaining one are chosen, so the key lists only those after it.
    let firstLeft = (head.next as Event<Input, Output>).index
    while (isIn(firstLeft)) firstLeft += 1
    const later: number[] = []
    for (let index = firstLeft + 1; firstLeft + later.length < chosen.size + 1; index += 1) {
      if (isIn(index)) later.push(index)
    }
    const key = `${firstLeft} ${later.join()} ${keyOf(after)}`
    if (tried.has(key)) return false
    tried.add(key)
    return true
  }
}

function listOf<Input, Output>(history: readonly Operation<Input, Output>[]): Event<Input, Output> {
  const nothing = { before: undefined, next: undefined }
  const events = history
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .flatMap((operation, index) => {
      const itsReturn: Event<Input, Output> = { ...nothing, operation, index, itsReturn: undefined }
      return [{ ...nothing, operation, index, itsReturn }, itsReturn]
    })
  const timeOf = ({ itsReturn, operation }: Event<Input, Output>) =>
    itsReturn === undefined ? operation.returnedAt : operation.calledAt
  const isReturn = ({ itsReturn }: Event<Input, Output>) => Number(itsReturn === undefined)
  // At equal times a call sorts before a return, because the two operations may overlap.
  events.sort((a, b) => timeOf(a) - timeOf(b) || isReturn(a) - isReturn(b))
  const head = { ...nothing } as unknown as Event<Input, Output>
  let last = head
  for (const event of events) {
    last.next = event
    event.before = last
    last = event
  }
  return head
}

/** The operations called before the first return. */
function candidatesAt<Input, Output>(head: Event<Input, Output>): Operation<Input, Output>[] {
  const candidates: Operation<Input, Output>[] = []
  for (let event = head.next; event?.itsReturn !== undefined; event = event.next)
    candidates.push(event.operation)
  return candidates
}

function takeOut<Input, Output>(call: Event<Input, Output>): void {
  for (const event of [call, call.itsReturn]) {
    if (event?.before !== undefined) event.before.next = event.next
    if (event?.next !== undefined) event.next.before = event.before
  }
}

/** Reverses takeOut. */
function putBack<Input, Output>(call: Event<Input, Output>): void {
  for (const event of [call.itsReturn, call]) {
    if (event?.before !== undefined) event.before.next = event
    if (event?.next !== undefined) event.next.before = event
  }
}
