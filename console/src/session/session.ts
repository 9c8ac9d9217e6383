// The session of this tab: the API key that it uses, what the key allows, and the data that was read with it.
// The key is kept in memory and in sessionStorage, which ends with the tab. It never appears in a URL.
import { type OwnApiKey, Petstore } from '@petstore/client'
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { openCache } from './query-client.ts'

export interface Session {
  /** The same in all tabs that share the session. */
  id: string
  apiKey: string
  own: OwnApiKey
}

type EndReason = 'signed-out' | 'rejected'

/** Why the last session ended, and the kind of its key. */
export interface Ended {
  reason: EndReason
  kind: string
}

interface State {
  session: Session | undefined
  store: Petstore | undefined
  /** The scopes of the key. Every row of a list asks for them. */
  scopes: ReadonlySet<string>
  /** Each session has its own cache. A late response of an earlier session cannot appear in it. */
  cache: QueryClient
  ended: Ended | undefined
}

const STORAGE_NAME = 'petstore-session'
/** A person waits for the response, so the client stops retrying earlier than a program would. */
const DEADLINE_MS = 15_000

let state: State = signedOut(undefined)
const listeners = new Set<() => void>()

export function openStore(apiKey: string): Petstore {
  return new Petstore({ baseUrl: '/v1', apiKey, deadlineMs: DEADLINE_MS, onDeprecated: () => {} })
}

export function currentSession(): Session | undefined {
  return state.session
}

export function startSession(session: Session): void {
  sessionStorage.setItem(STORAGE_NAME, JSON.stringify(session))
  const scopes = new Set(session.own.scopes)
  const cache = openCache(() => endSession('rejected', session.id))
  change({ session, store: openStore(session.apiKey), scopes, cache, ended: undefined })
}

/** Ends the session with this id. A late response to an earlier session does not end the current one. */
export function endSession(reason: EndReason, id: string): void {
  if (state.session?.id !== id) return
  sessionStorage.removeItem(STORAGE_NAME)
  change(signedOut({ reason, kind: state.session.own.kind }))
}

function signedOut(ended: Ended | undefined): State {
  return { session: undefined, store: undefined, scopes: new Set(), cache: openCache(() => {}), ended }
}

/** The session that this tab had before it was reloaded. */
export function storedSession(): Session | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_NAME) ?? '') as Session
  } catch {
    return undefined
  }
}

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useSession(): State {
  return useSyncExternalStore(onSessionChange, () => state)
}

/** The client of the current session. Pages use it only while a session exists. */
export function useStore(): Petstore {
  const { store } = useSession()
  if (store === undefined) throw new Error('This page needs a session.')
  return store
}

export function useScopes(): ReadonlySet<string> {
  return useSession().scopes
}

/** `crypto.randomUUID` exists only in secure contexts (HTTPS). */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')
}

function change(next: State): void {
  const { cache } = state
  state = next
  for (const listener of listeners) listener()
  // Cancels the requests that are in flight.
  cache.clear()
}
