// Shares the session between the tabs of one browser: sessionStorage is empty in a new tab, so the tab asks the others.
// A BroadcastChannel reaches only pages of the same origin.
import { isHandOver, takeOver } from './identity-provider.ts'
import {
  currentSession,
  endSession,
  onSessionChange,
  type Session,
  startSession,
  storedSession,
} from './session.ts'

type Message = { type: 'wanted' } | { type: 'session'; session: Session } | { type: 'signed-out'; id: string }

/**
 * How long a new tab waits for another tab before it shows the sign-in page. A later response still signs it in: browsers
 * slow down tabs in the background.
 */
const WAIT_MS = 200

const channel = new BroadcastChannel('petstore-session')
const post = (message: Message) => channel.postMessage(message)

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  const session = currentSession()
  if (data.type === 'wanted' && session !== undefined) post({ type: 'session', session })
  if (data.type === 'session' && isWanted) startSession(data.session)
  if (data.type === 'signed-out') endSession('signed-out', data.id)
})

/** This tab has asked for a session and has none yet. */
let isWanted = false
onSessionChange(() => {
  isWanted = false
})

/** Restores the session of this tab, starts one after a sign-in, or takes over the session of another tab. */
export async function restoreSession(): Promise<void> {
  const session = isHandOver() ? await takeOver() : storedSession()
  if (session !== undefined) return startSession(session)
  isWanted = true
  post({ type: 'wanted' })
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, WAIT_MS)
    onSessionChange(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Ends the session in all tabs that share it. */
export function endSessionInAllTabs(): void {
  const session = currentSession()
  if (session === undefined) return
  post({ type: 'signed-out', id: session.id })
  endSession('signed-out', session.id)
}
