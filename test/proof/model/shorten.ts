// Removes the items of a failing sequence that the failure does not need, so that the sequence is easy to read.

/** Removes halves, then quarters, and finally single items, as long as the rest still fails. */
export async function shorten<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
): Promise<Item[]> {
  let kept = [...items]
  for (let size = Math.ceil(kept.length / 2), isDone = kept.length === 0; !isDone; ) {
    const before = kept.length
    for (let at = 0; at < kept.length; ) {
      const rest = kept.toSpliced(at, size)
      if (await fails(rest)) kept = rest
      else at += size
    }
    isDone = size === 1 && kept.length === before
    size = Math.ceil(size / 2)
  }
  return kept
}
