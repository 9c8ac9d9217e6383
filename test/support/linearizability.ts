// Whether what concurrent clients were answered could have happened one after another, each operation at some moment
// between its call and its return: linearizability. The search is that of Wing and Gong, with the memory of Lowe, as in
// Porcupine. Give it the history of one thing at a time: a store is linearizable where each of its things is.

export interface Operation<Input, Output> {
  input: Input
  output: Output
  calledAt: number
  returnedAt: number
}

export interface Specification<State, Input, Output> {
  initial: State
  /** The state after it; undefined where nobody may be answered so in this state. Leaves the given state alone. */
  step: (state: State, input: Input, output: Output) => State | undefined
  /** Whether, answered so, it leaves every state as it is. */
  changesNothing: (input: Input, output: Output) => boolean
  /** Equal for equal states. */
  keyOf: (state: State) => string
}

export interface Stuck<Input, Output> {
  /** The longest sequence of operations that the specification allows. */
  longest: Operation<Input, Output>[]
  /** What should have come next: none of these can. */
  candidates: Operation<Input, Output>[]
}

/** A call or a return; those that are not in the sequence yet form a list. */
interface Event<Input, Output> {
  operation: Operation<Input, Output>
  /** Of the operation, by its call. */
  index: number
  /** The return, where this is a call. */
  itsReturn: Event<Input, Output> | undefined
  before: Event<Input, Output> | undefined
  next: Event<Input, Output> | undefined
}

/** Undefined where the history is linearizable. */
export function findContradiction<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { initial, step, changesNothing, keyOf }: Specification<State, Input, Output>,
): Stuck<Input, Output> | undefined {
  const head = listOf(history)
  const sequence: { call: Event<Input, Output>; stateBefore: State }[] = []
  const chosen = new Set<number>()
  const tried = new Set<string>()
  let state = initial
  let stuck: Stuck<Input, Output> | undefined

  for (let event = head.next; event !== undefined; ) {
    if (event.itsReturn === undefined) {
      // It has returned, so it had to come before: an earlier choice was wrong.
      if (stuck === undefined || sequence.length > stuck.longest.length) {
        stuck = { longest: sequence.map(({ call }) => call.operation), candidates: candidatesAt(head) }
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
    sequence.push({ call: event, stateBefore: state })
    chosen.add(event.index)
    state = after
    takeOut(event)
    event = head.next
  }
  return undefined

  /** The last choice that mattered: what changes nothing is never better placed later than now. */
  function takeBack(): Event<Input, Output> | undefined {
    for (let last = sequence.pop(); last !== undefined; last = sequence.pop()) {
      state = last.stateBefore
      chosen.delete(last.call.index)
      putBack(last.call)
      const { input, output } = last.call.operation
      if (!changesNothing(input, output)) return last.call
    }
    return undefined
  }

  /** The same operations in another sequence, with the same outcome, lead to nothing else. */
  function isNew(added: number, after: State): boolean {
    const isIn = (index: number) => index === added || chosen.has(index)
    // All before the first that is left are in, so only those after it need to be named.
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
  // At the same moment a call comes before a return: those two may have met.
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

/** All that were called before the first of them has returned. */
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

/** Exactly what takeOut did, backwards. */
function putBack<Input, Output>(call: Event<Input, Output>): void {
  for (const event of [call.itsReturn, call]) {
    if (event?.before !== undefined) event.before.next = event
    if (event?.next !== undefined) event.next.before = event
  }
}
