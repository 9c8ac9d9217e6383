// The measured heights of the rows of the last list. With them, a list that is shown again has its rows at the same
// places, so that the browser can restore the scroll position.
import type { VirtualItem } from '@tanstack/react-virtual'

let last: { list: string; rows: VirtualItem[] } | undefined

export function rememberHeights(list: string, rows: VirtualItem[]): void {
  last = { list, rows }
}

export function knownHeights(list: string): VirtualItem[] {
  return last?.list === list ? last.rows : []
}
