// Chooses the parts of a request that an input is about.
import * as fc from 'fast-check'

/** Chooses some names, and builds an arbitrary for them once. Building it for each input would take most of the time. */
export function choose<Value>(
  names: readonly string[],
  max: number,
  make: (chosen: string[]) => fc.Arbitrary<Value>,
): fc.Arbitrary<Value> {
  const made = new Map<string, fc.Arbitrary<Value>>()
  return fc.subarray([...names], { minLength: 1, maxLength: Math.min(max, names.length) }).chain((chosen) => {
    const known = made.get(chosen.join()) ?? make(chosen)
    made.set(chosen.join(), known)
    return known
  })
}
