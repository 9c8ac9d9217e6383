// The identity provider: authorization code flow with PKCE (OpenID Connect), by openid-client.
import type * as OpenId from 'openid-client'
import type { RoleRules } from '../../contract/roles.ts'
import { isLoopbackHost } from '../../values/ip-address.ts'
import { type Claims, type Person, readPerson } from './claims.ts'
import { fetchFromProvider, PROVIDER_TIMEOUT_MS } from './provider-requests.ts'
import { SignInError } from './rules.ts'

/** Max time to verify a person: up to four requests to the provider. */
export const EXCHANGE_TIMEOUT_MS = 8_000
/** The provider's documents are read again after this time. If that fails, the documents in memory stay in use. */
const DISCOVERED_EVERY_MS = 3_600_000

export interface ProviderSettings {
  /** Max time for one request to the provider. Default: PROVIDER_TIMEOUT_MS. */
  requestTimeoutMs?: number
  /** Max time to verify a person. Default: EXCHANGE_TIMEOUT_MS. */
  exchangeTimeoutMs?: number
  issuer: string
  clientId: string
  clientSecret: string | undefined
  name: string
  scopes: string
  rolesClaim: string
  roleRules: RoleRules
  prompt: Prompt
}

/** What the provider asks a person who already has a session at the provider. `off`: nothing. */
export type Prompt = 'login' | 'select_account' | 'off'

/** What the service must know when the person returns from the provider. */
export interface Expectation {
  state: string
  nonce: string
  codeVerifier: string
}

export interface IdentityProvider {
  /** Shown on the button that signs in. */
  name: string
  /** Returns the address to which the browser goes. Throws `provider_unavailable` if the provider does not respond. */
  begin: (redirectUri: string) => Promise<Expectation & { address: string }>
  /** Verifies the address with which the person returned, and returns the person. */
  finish: (address: URL, expected: Expectation) => Promise<Person>
}

export function openIdentityProvider(
  settings: ProviderSettings,
  now = () => performance.now(),
): IdentityProvider {
  const documents = cachedDiscovery(settings, now)

  return {
    name: settings.name,

    begin: async (redirectUri) => {
      const { openId, configuration } = await documents()
      const codeVerifier = openId.randomPKCECodeVerifier()
      const [state, nonce] = [openId.randomState(), openId.randomNonce()]
      const address = openId.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await openId.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        // Otherwise, after a sign-out, one click would sign the former person in again without a password.
        ...(settings.prompt !== 'off' && { prompt: settings.prompt }),
      })
      return { address: address.href, state, nonce, codeVerifier }
    },

    finish: (address, expected) =>
      withTimeout(async () => {
        const { openId, configuration } = await documents()
        const claims = await fetchClaims(openId, configuration, address, expected)
        return readPerson(claims, settings.rolesClaim, settings.roleRules)
      }, settings.exchangeTimeoutMs ?? EXCHANGE_TIMEOUT_MS),
  }
}

interface Discovered {
  openId: typeof OpenId
  configuration: OpenId.Configuration
}

/** Discovers on first use, so that the service starts without the provider. Concurrent callers wait for one discovery. */
function cachedDiscovery(settings: ProviderSettings, now: () => number): () => Promise<Discovered> {
  let known: Discovered | undefined
  let knownSince = 0
  let inFlight: Promise<Discovered> | undefined

  async function start(): Promise<Discovered> {
    try {
      known = await discover(settings)
      knownSince = now()
      return known
    } catch (error) {
      if (known === undefined) throw toSignInError(error)
      // The provider may be unavailable for a moment only: try again with a later sign-in.
      return known
    } finally {
      inFlight = undefined
    }
  }

  return async () => {
    if (known !== undefined && now() - knownSince < DISCOVERED_EVERY_MS) return known
    inFlight ??= start()
    return inFlight
  }
}

async function discover(settings: ProviderSettings): Promise<Discovered> {
  const { issuer, clientId, clientSecret, requestTimeoutMs = PROVIDER_TIMEOUT_MS } = settings
  // Loaded on demand, because most processes and commands never sign people in.
  const openId = await import('openid-client')
  const isInsecure = new URL(issuer).protocol === 'http:' && isLoopbackHost(new URL(issuer).hostname)
  const configuration = await openId.discovery(
    new URL(issuer),
    clientId,
    undefined,
    authenticateClient(openId, clientSecret),
    {
      timeout: requestTimeoutMs / 1_000,
      [openId.customFetch]: fetchFromProvider,
      // The signature of the ID token is verified although it comes from the provider over TLS.
      execute: [openId.enableNonRepudiationChecks, ...(isInsecure ? [openId.allowInsecureRequests] : [])],
    },
  )
  return { openId, configuration }
}

/** HTTP Basic is the default of OpenID Connect. A provider that does not support it lists other methods. */
function authenticateClient(openId: typeof OpenId, secret: string | undefined): OpenId.ClientAuth {
  if (secret === undefined) return openId.None()
  const [basic, post] = [openId.ClientSecretBasic(secret), openId.ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = supported.includes('client_secret_basic') ? basic : post
    authenticate(server, client, body, headers)
  }
}

/**
 * Checks `state` and the issuer, exchanges the code, and verifies the ID token with its nonce. Returns the claims of the
 * ID token and, because many providers put the groups only there, those of the user info endpoint.
 */
async function fetchClaims(
  openId: typeof OpenId,
  configuration: OpenId.Configuration,
  address: URL,
  { state, nonce, codeVerifier }: Expectation,
): Promise<Claims> {
  try {
    const tokens = await openId.authorizationCodeGrant(configuration, address, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    })
    const claims: Claims = { ...tokens.claims() }
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    const more = await openId.fetchUserInfo(configuration, tokens.access_token, String(claims['sub']))
    return { ...more, ...claims }
  } catch (error) {
    throw toSignInError(error)
  }
}

/** Errors of openid-client when the provider cannot be reached, has a fault or does not respond in time. */
function toSignInError(error: unknown): SignInError {
  const { code, error: providerError, status, message } = error as Partial<OpenId.ResponseBodyError>
  if (error instanceof SignInError) return error
  if (providerError === 'access_denied') return new SignInError('access_denied', error)
  const isTimeout = (code as string | undefined) === 'OAUTH_TIMEOUT'
  const isNetwork = error instanceof TypeError && /^(fetch failed|terminated)$/.test(message ?? '')
  const cause = (error as { cause?: unknown }).cause
  const isFault = (status ?? (cause instanceof Response ? cause.status : 0)) >= 500
  return new SignInError(isTimeout || isNetwork || isFault ? 'provider_unavailable' : 'provider_error', error)
}

async function withTimeout<Result>(work: () => Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new SignInError('provider_unavailable')), timeoutMs)
  return Promise.race([work(), timedOut]).finally(() => clearTimeout(timer))
}
