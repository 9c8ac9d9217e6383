// Signs in with the identity provider of the shop. The service leads the browser to the provider and back to `/sign-in`;
// then this page fetches the personal key once. See docs/access.md.
import { readPersonalKey } from './personal-key.ts'
import { randomId, type Session } from './session.ts'

export interface Provider {
  /** The text of the button. */
  name: string
  startUrl: string
}

export const SIGN_IN_PATH = '/sign-in'
const TIMEOUT_MS = 15_000

/** The identity provider of the service, or null if people sign in with an API key only. */
export async function findProvider(): Promise<Provider | null> {
  const response = await fetch('/auth/provider', { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) return null
  return ((await response.json()) as { provider: Provider | null }).provider
}

/** Leaves this page. The provider returns to the page that the person wanted to see. */
export function goToProvider({ startUrl }: Provider): void {
  const { pathname, search } = location
  const returnTo = pathname === SIGN_IN_PATH ? '/' : pathname + search
  location.assign(`${startUrl}?${new URLSearchParams({ returnTo })}`)
}

/** Whether the provider has just returned to this page. */
export function isHandOver(): boolean {
  return location.pathname === SIGN_IN_PATH && location.hash === '#done'
}

/** Fetches the personal key. Works once per sign-in. If it fails, the page shows the error in the URL. */
export async function takeOver(): Promise<Session | undefined> {
  const response = await fetch('/auth/key', {
    method: 'POST',
    // Pages of other origins cannot send this header.
    headers: { 'x-petstore-sign-in': '1' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined)
  if (response?.status !== 201) {
    const isRejected = response?.status === 410 || response?.status === 403
    const error = isRejected ? 'sign_in_expired' : 'unavailable'
    setPath(`${SIGN_IN_PATH}?error=${error}`)
    return undefined
  }
  const { apiKey, own, returnTo } = readPersonalKey(await response.text())
  setPath(returnTo)
  return { id: randomId(), apiKey, own }
}

/** Keeps the state of the history entry. The router finds the scroll position of the page by it. */
function setPath(path: string): void {
  history.replaceState(history.state, '', path)
}
