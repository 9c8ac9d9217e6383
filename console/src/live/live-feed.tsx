// Keeps the pages up to date with the event stream, or by polling if the key does not allow to read events.
import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { endSession, useScopes, useSession } from '../session/session.ts'
import { eventApplier } from './apply-events.ts'
import { readSharedStream, type StreamState } from './shared-stream.ts'

export type LiveState = StreamState | 'polling'

interface Live {
  state: LiveState
  /** The pets that changed within the last two seconds. */
  changed: ReadonlySet<string>
}

const POLLING_EVERY_MS = 5_000
const SHOWN_AS_CHANGED_MS = 2_000
/** A short interruption is not worth a banner, nor is a slow start. */
const SHOWN_AS_LOST_AFTER_MS = { connecting: 3_000, reconnecting: 1_500 }

const LiveContext = createContext<Live>({ state: 'connecting', changed: new Set() })

export function useLiveState(): LiveState {
  const { state } = use(LiveContext)
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    if (state === 'live' || state === 'polling') return setLost(false)
    const timer = setTimeout(() => setLost(true), SHOWN_AS_LOST_AFTER_MS[state])
    return () => clearTimeout(timer)
  }, [state])
  if (isLost) return 'reconnecting'
  return state === 'reconnecting' ? 'live' : state
}

export function useHasChanged(petId: string): boolean {
  return use(LiveContext).changed.has(petId)
}

export function LiveFeed({ children }: { children: ReactNode }) {
  const { session, store } = useSession()
  const cache = useQueryClient()
  const canStream = useScopes().has('events:read')
  const [state, setState] = useState<LiveState>('connecting')
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())

  useEffect(() => {
    if (session === undefined || store === undefined || !canStream) return
    const ended = new AbortController()
    const timers = new Set<ReturnType<typeof setTimeout>>()
    const applier = eventApplier(cache, (petIds) => {
      setChanged((current) => new Set([...current, ...petIds]))
      const timer = setTimeout(() => {
        timers.delete(timer)
        setChanged((current) => new Set([...current].filter((id) => !petIds.includes(id))))
      }, SHOWN_AS_CHANGED_MS)
      timers.add(timer)
    })
    void readSharedStream(
      store,
      session.id,
      {
        onEvent: applier.add,
        onGap: () => void cache.invalidateQueries(),
        onState: setState,
        onError: (error) => (error.status === 401 ? endSession('rejected', session.id) : setState('polling')),
      },
      ended.signal,
    )
    return () => {
      ended.abort()
      applier.stop()
      for (const timer of timers) clearTimeout(timer)
    }
  }, [session, store, cache, canStream])

  const isPolling = !canStream || state === 'polling'
  useEffect(() => {
    if (!isPolling) return
    const timer = setInterval(() => void cache.invalidateQueries(), POLLING_EVERY_MS)
    return () => clearInterval(timer)
  }, [isPolling, cache])

  return <LiveContext value={{ state: canStream ? state : 'polling', changed }}>{children}</LiveContext>
}
