// An identity provider for development and tests: oidc-provider, on this host, with demo people and no passwords.
// The page of a sign-in has one button for each person.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type * as Oidc from 'oidc-provider'

export interface DemoPerson {
  /** The claim `sub`. */
  subject: string
  claims: { name: string; [claim: string]: unknown }
}

/** One person for each role of OIDC_ROLES in dev.ts. */
export const DEMO_PEOPLE: readonly DemoPerson[] = [
  person('ada', 'Ada Admin', ['petstore-admins']),
  person('sam', 'Sam Staff', ['shop']),
  person('vera', 'Vera Viewer', []),
]

function person(subject: string, name: string, groups: string[]): DemoPerson {
  return { subject, claims: { name, groups, email: `${subject}@shop.example`, email_verified: true } }
}

export interface IdentityProviderOptions {
  /** The address to listen on, which must be one of this host. Default: 127.0.0.1. */
  host?: string
  port: number
  clientId: string
  clientSecret: string
  redirectUri: string
  people: readonly DemoPerson[]
  /** True: like other providers, it remembers the person, and asks again only if the client wants it. Default: false. */
  keepsSessions?: boolean
  /** Handles a request instead of the provider if it returns true. Tests inject faults with it. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export interface RunningIdentityProvider {
  issuer: string
  stop: () => Promise<void>
}

export async function startIdentityProvider(
  options: IdentityProviderOptions,
): Promise<RunningIdentityProvider> {
  const { host = '127.0.0.1', port } = options
  const issuer = `http://${host}:${port}`
  const provider = await openProvider(issuer, options)
  const respond = provider.callback()
  const { intercept = () => false, people, keepsSessions = false } = options
  const server = createServer((request, response) => {
    if (intercept(request, response)) return
    if (!keepsSessions) forgetSession(request)
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer)
    if (!pathname.startsWith(CHOICE)) void respond(request, response)
    else if (request.method === 'POST')
      void choose(provider, request, response, searchParams.get('person') ?? '')
    else response.setHeader('content-type', 'text/html; charset=utf-8').end(choicePage(pathname, people))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return { issuer, stop: () => stopServer(server) }
}

const CHOICE = '/choose/'

/** Removes the session of an earlier sign-in, so that each sign-in shows the page with all people. */
function forgetSession({ headers }: IncomingMessage): void {
  const kept = headers.cookie?.split('; ').filter((pair) => !pair.startsWith('_session'))
  if (kept !== undefined) headers.cookie = kept.join('; ')
}

/**
 * Without the warnings of oidc-provider: that its state is only in memory, and that this version of Node has no long-term
 * support. Neither matters here.
 */
async function openProvider(issuer: string, options: IdentityProviderOptions): Promise<Oidc.default> {
  /* oxlint-disable no-console -- the library offers no other way to turn off its warnings. */
  const { warn } = console
  console.warn = () => {}
  try {
    return makeProvider(await import('oidc-provider'), issuer, options)
  } finally {
    console.warn = warn
  }
  /* oxlint-enable no-console */
}

function makeProvider(oidc: typeof Oidc, issuer: string, options: IdentityProviderOptions): Oidc.default {
  const { clientId, clientSecret, redirectUri, people } = options
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return new oidc.default(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'demo', use: 'sig', alg: 'ES256' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => CHOICE + uid },
    findAccount: (_ctx, subject) => {
      const found = people.find((one) => one.subject === subject)
      return found && { accountId: subject, claims: () => ({ sub: subject, ...found.claims }) }
    },
    // Grants everything that the client requests, so that no page for consent follows.
    loadExistingGrant: async ({ oidc: { provider, session } }) => {
      const grant = new provider.Grant({ clientId, accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
  })
}

/** The person has clicked a button: the provider continues with its redirect. */
async function choose(
  provider: Oidc.default,
  request: IncomingMessage,
  response: ServerResponse,
  subject: string,
): Promise<void> {
  const result =
    subject === ''
      ? { error: 'access_denied', error_description: 'cancelled' }
      : { login: { accountId: subject, remember: false } }
  try {
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  } catch (error) {
    response.writeHead(400).end(`This sign-in is not known: ${(error as Error).message}`)
  }
}

function choicePage(path: string, people: readonly DemoPerson[]): string {
  const button = (subject: string, label: string) =>
    `<form method="post" action="${path}?person=${encodeURIComponent(subject)}"><button>${escapeHtml(label)}</button></form>`
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Demo identity provider</title>
<style>body{font:1rem system-ui;max-width:24rem;margin:4rem auto;padding:0 1rem}button{font:inherit;width:100%;padding:.75rem;margin:.25rem 0}</style>
<h1>Demo identity provider</h1>
<p>It runs on this computer, for development. Sign in as:</p>
${people.map(({ subject, claims }) => button(subject, claims.name)).join('\n')}
${button('', 'Cancel')}
</html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
