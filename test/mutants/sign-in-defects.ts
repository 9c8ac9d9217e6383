// Defects in signing in. Each removes one control that docs/security.md names.
import type { Defect } from './defect.ts'

const ATTACKS = 'test/security/sign-in.test.ts'
const PROVIDER = 'test/failure/identity-provider.test.ts'
const CLAIMS = 'test/api/sign-in-claims.test.ts'
const KEYS = 'test/api/sign-in.test.ts'

export const SIGN_IN_DEFECTS: readonly Defect[] = [
  {
    name: 'a sign-in can be finished in another browser',
    file: 'src/people/queries.ts',
    find: 'where state_hash = $1 and cookie_hash = $2 and',
    replace: 'where state_hash = $1 and $2::bytea is not null and',
    test: ATTACKS,
  },
  {
    name: 'a sign-in never expires',
    file: 'src/people/queries.ts',
    find: `cookie_hash = $2 and expires_at > now()`,
    replace: 'cookie_hash = $2',
    test: ATTACKS,
  },
  {
    name: 'a finished sign-in never expires',
    file: 'src/people/queries.ts',
    find: 'where cookie_hash = $1 and expires_at > now()',
    replace: 'where cookie_hash = $1',
    test: ATTACKS,
  },
  {
    name: 'the nonce is always the same',
    file: 'src/people/provider.ts',
    find: 'openId.randomNonce()',
    replace: `'nonce'`,
    test: ATTACKS,
  },
  {
    name: 'the verifier of PKCE is not sent',
    file: 'src/people/provider.ts',
    find: '      pkceCodeVerifier: codeVerifier,\n',
    replace: '',
    test: ATTACKS,
  },
  {
    name: 'the signature of the ID token is not verified',
    file: 'src/people/provider.ts',
    find: 'execute: [openId.enableNonRepudiationChecks, ',
    replace: 'execute: [',
    test: ATTACKS,
  },
  {
    name: 'the cookie stays the same during a sign-in',
    file: 'src/people/sign-ins.ts',
    find: 'const next = makeSecret()',
    replace: 'const next = secret',
    test: ATTACKS,
  },
  {
    name: 'the first of two cookies is used',
    file: 'src/http/cookies.ts',
    find: 'values.length === 1 ?',
    replace: 'values.length > 0 ?',
    test: ATTACKS,
  },
  {
    name: 'pages of another origin can fetch the key',
    file: 'src/people/routes.ts',
    find: `if (origin !== publicUrl || marker !== '1')`,
    replace: `if (marker !== '1')`,
    test: ATTACKS,
  },
  {
    name: 'a path that resolves to another host is accepted as returnTo',
    file: 'src/people/rules.ts',
    find: `/^\\/(?!\\/)/.test(path) &&`,
    replace: '',
    test: ATTACKS,
  },
  {
    name: 'HEAD starts a sign-in',
    file: 'src/people/routes.ts',
    find: 'exposeHeadRoute: false, ',
    replace: '',
    test: ATTACKS,
  },
  {
    name: 'responses under /auth have no security headers',
    file: 'src/people/routes.ts',
    find: '    reply.headers(DATA_HEADERS)\n',
    replace: '    void reply\n',
    test: ATTACKS,
  },
  {
    name: 'an unverified email address gives a role',
    file: 'src/people/claims.ts',
    find: `claims['email_verified'] !== true`,
    replace: `claims['email_verified'] === undefined`,
    test: CLAIMS,
  },
  {
    name: 'the lowest role takes precedence',
    file: 'src/roles.ts',
    find: '.toReversed()',
    replace: '',
    test: CLAIMS,
  },
  {
    name: 'the size of a response of the provider is not limited',
    file: 'src/people/provider-requests.ts',
    find: 'if (size > PROVIDER_RESPONSE_MAX_BYTES)',
    replace: 'if (size < 0)',
    test: PROVIDER,
  },
  {
    name: 'each sign-in discovers the provider for itself',
    file: 'src/people/provider.ts',
    find: 'inFlight ??= start()',
    replace: 'inFlight = start()',
    test: PROVIDER,
  },
  {
    name: 'requests of sign-ins are not counted by address',
    file: 'src/people/routes.ts',
    find: '    limiter.count(address)\n',
    replace: '',
    test: PROVIDER,
  },
  {
    name: 'the number of sign-ins in progress is not limited',
    file: 'src/people/sign-ins.ts',
    find: 'rowsMax: SIGN_INS_MAX',
    replace: 'rowsMax: SIGN_INS_MAX * 2',
    test: PROVIDER,
  },
  {
    name: 'a personal key can be rotated',
    file: 'src/api-keys/queries.ts',
    find: `where id = $1 and kind = 'program' and`,
    replace: 'where id = $1 and',
    test: KEYS,
  },
  {
    name: 'ended personal keys are listed',
    file: 'src/api-keys/queries.ts',
    find: `(kind = 'program' or (revoked_at is null and expires_at > now()))`,
    replace: 'true',
    test: KEYS,
  },
  {
    name: 'a person can have any number of keys',
    file: 'src/people/rules.ts',
    find: 'KEYS_PER_PERSON_MAX = 10',
    replace: 'KEYS_PER_PERSON_MAX = 1_000',
    test: KEYS,
  },
  {
    name: 'personal keys are purged as soon as they end',
    file: 'src/people/sign-ins.ts',
    find: 'purgePersonalApiKeys(db, PURGED_AFTER_DAYS,',
    replace: 'purgePersonalApiKeys(db, 0,',
    test: KEYS,
  },
]
