// A started sign-in, encrypted in the cookie of the browser that started it. The service stores nothing until the identity
// provider has authenticated a person, so that sign-ins that are only started take nothing that other people need.
//
// The key is derived from `state`, which is in the addresses of the sign-in and nowhere else. Every instance can therefore
// decrypt the cookie without a shared secret, and only for the address that belongs to it. Neither the cookie nor the
// address alone reveals the PKCE verifier.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface StartedSignIn {
  nonce: string
  codeVerifier: string
  returnTo: string
  expiresAtMs: number
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

export function sealSignIn(state: string, signIn: StartedSignIn): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keyOf(state), iv, { authTagLength: TAG_BYTES })
  // None of the values contains a line break.
  const text = [signIn.expiresAtMs, signIn.nonce, signIn.codeVerifier, signIn.returnTo].join('\n')
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')
}

/** Returns undefined if the cookie was changed, belongs to another `state`, or was not made by `sealSignIn`. */
export function unsealSignIn(state: string, sealed: string): StartedSignIn | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)]
  const decipher = createDecipheriv(ALGORITHM, keyOf(state), iv, { authTagLength: TAG_BYTES }).setAuthTag(tag)
  try {
    const encrypted = bytes.subarray(IV_BYTES + TAG_BYTES)
    const text = Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8')
    const [expiresAt = '', nonce = '', codeVerifier = '', returnTo = ''] = text.split('\n')
    return { expiresAtMs: Number(expiresAt), nonce, codeVerifier, returnTo }
  } catch {
    return undefined
  }
}

function keyOf(state: string): Buffer {
  return Buffer.from(hkdfSync('sha256', state, '', 'petstore sign-in cookie', KEY_BYTES))
}
