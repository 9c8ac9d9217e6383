// Texts that depend on the current time, such as "4 min left". All of them share one timer, which runs only while one of
// them is on the page. A component renders again only when its text changes.
import { useSyncExternalStore } from 'react'

const TICK_MS = 1_000

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  for (const listener of listeners) listener()
}

export function useTimedText<Text extends string | boolean>(write: (nowMs: number) => Text): Text {
  return useSyncExternalStore(subscribe, () => write(Date.now()))
}
