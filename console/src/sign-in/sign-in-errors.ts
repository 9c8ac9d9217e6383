// What the sign-in page says if the sign-in with the identity provider failed. The service redirects to
// `/sign-in?error=…` with one of these codes.

export const SIGN_IN_ERRORS: Record<string, string> = {
  sign_in_expired: 'The sign-in took too long, was already used, or began in another browser. Try again.',
  access_denied: 'You cancelled the sign-in, or the account was not confirmed. Try again.',
  no_role: 'Your account has no role in this shop yet. Ask your administrator to add you to a group.',
  provider_unavailable:
    'The sign-in service of your organisation cannot be reached. Try again later, or use an API key.',
  provider_error:
    'The sign-in service of your organisation sent an unexpected response. Try again, or tell your administrator.',
  rate_limited: 'Too many people on your network are signing in. Try again in a minute.',
  overloaded: 'Too many people are signing in. Try again in a minute.',
  unavailable: 'The server is temporarily unavailable. Try again.',
}

/** The text for the error in the URL, if there is one. */
export function signInError(search: string): string | undefined {
  const code = new URLSearchParams(search).get('error')
  return code === null ? undefined : (SIGN_IN_ERRORS[code] ?? 'The sign-in failed. Try again.')
}
