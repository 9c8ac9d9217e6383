// Rules for signing in: lifetimes and limits, where a page can continue, and how a person is named.
import { isServiceName } from '../../contract/actor.ts'
import { NAME_LENGTH_MAX } from '../api-keys/rules.ts'

/** Time from the start of a sign-in until the person returns from the identity provider. */
export const SIGN_IN_SECONDS = 600
/** Time from the return of the person until the page fetches the key. */
export const HAND_OVER_SECONDS = 60
/** Lifetime of a personal key. */
export const KEY_SECONDS = 12 * 3_600
/** Max valid keys of one person, for example one in each browser. Another sign-in revokes the oldest key. */
export const KEYS_PER_PERSON_MAX = 10
/** Time from the end of a personal key until its deletion. */
export const PURGED_AFTER_DAYS = 30

const RETURN_TO_LENGTH_MAX = 1_000
const SUBJECT_LENGTH_MAX = 255

/** Every error with which a person returns to the page `/sign-in?error=…`: its code, and the text for the person. */
export const SIGN_IN_ERRORS = {
  sign_in_expired: 'The sign-in took longer than 10 minutes, was already used, or began in another browser.',
  access_denied: 'The identity provider did not confirm who you are, or you cancelled.',
  no_role: 'Your account has no role in this service. Ask the operator to add you to a group.',
  provider_unavailable:
    'The identity provider cannot be reached. Try again later, or sign in with an API key.',
  provider_error: 'The identity provider sent an unexpected response. Try again, or tell the operator.',
  rate_limited: 'Too many sign-ins from your network. Try again in a minute.',
  overloaded: 'Too many people are signing in. Try again in a minute.',
  unavailable: 'The service is temporarily unavailable. Try again.',
} as const

export type SignInErrorCode = keyof typeof SIGN_IN_ERRORS

/** Ends a sign-in. The cause is logged without its text, because the text can contain data of the person. */
export class SignInError extends Error {
  readonly code: SignInErrorCode

  constructor(code: SignInErrorCode, cause?: unknown) {
    super(SIGN_IN_ERRORS[code], { cause })
    this.name = 'SignInError'
    this.code = code
  }
}

/** Paths that are not pages of the console. */
const NOT_PAGES = /^\/(?:v1|auth|sign-in)(?:[/?#]|$)/

/**
 * Returns the path where the page continues after the sign-in; `/` if the text is not a path of this origin. Browsers
 * treat `\` as `/`, ignore tabs and line breaks, and resolve `/.//host` to `//host`, which is another origin.
 */
export function readReturnTo(text: string | undefined): string {
  if (text === undefined || text.length > RETURN_TO_LENGTH_MAX || !/^\/[!-[\]-~]*$/.test(text)) return '/'
  const base = 'https://petstore.invalid'
  const url = URL.parse(text, base)
  const path = url === null ? '' : url.pathname + url.search + url.hash
  return url?.origin === base && /^\/(?!\/)/.test(path) && !NOT_PAGES.test(path) ? path : '/'
}

/** Whether the identity provider sent a subject that OpenID Connect allows. */
export function isSubject(subject: string): boolean {
  return subject.length > 0 && subject.length <= SUBJECT_LENGTH_MAX && /^[ -~]+$/.test(subject)
}

/**
 * Returns the name of a person: the first of the texts that is left after invisible characters are removed. People
 * can choose their name at some providers, so it must not look like the name of the service or change the text around it.
 */
export function personName(candidates: readonly unknown[]): string {
  for (const candidate of candidates) {
    if (typeof candidate !== 'string') continue
    const visible = candidate
      .toWellFormed()
      .normalize('NFC')
      .replaceAll(/[\p{Z}\s]+/gu, ' ')
      .replaceAll(/[\p{C}\p{Default_Ignorable_Code_Point}\ufffd]/gu, '')
    const name = Array.from(visible.trim()).slice(0, NAME_LENGTH_MAX).join('').trim()
    if (name !== '' && !isServiceName(name)) return name
  }
  return 'unnamed person'
}
