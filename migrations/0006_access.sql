-- Access: API keys, and people who sign in with an identity provider. docs/decisions/0011-people.md explains the choices.

create table api_keys (
  id bigint primary key generated always as identity,
  -- SHA-256 of the key. The key has 256 random bits, so a slow hash would add no security.
  hash bytea not null unique check (octet_length(hash) = 32),
  name text not null check (char_length(name) between 1 and 100),
  kind text not null default 'program' check (kind in ('program', 'personal')),
  -- Identifies the person at the identity provider. Null for a program, and after a personal key was purged: the row
  -- stays, because history and orders show its name.
  subject text collate "C" check (char_length(subject) between 1 and 255),
  -- The first key of the same person, or the first one before all rotations. It stands for the owner of the key: a
  -- request that was sent with one key of an owner can be retried with another one. Null for that key itself.
  owner_id bigint,
  scopes text[] not null,
  rate_limit integer check (rate_limit > 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Lifetime of the key at its creation; null if the key does not expire. Rotation gives the new key the same lifetime.
  lifetime_seconds float8
);

comment on table api_keys is 'The keys of programs and of people. A person gets a personal key when signing in, so that history, limits and revocation work as they do for programs. Rows are never deleted';

-- Lists skip purged keys with this index, so that years of sign-ins do not slow them down.
create index api_keys_listed on api_keys (id) where kind = 'program' or subject is not null;
create index api_keys_by_subject on api_keys (subject, id) where subject is not null;

create table finished_sign_ins (
  -- SHA-256 of the cookie. Reading this table is not enough to take the key.
  cookie_hash bytea primary key check (octet_length(cookie_hash) = 32),
  subject text not null,
  name text not null,
  role text not null,
  return_to text not null,
  expires_at timestamptz not null
);

comment on table finished_sign_ins is 'People whom the identity provider has authenticated. The console exchanges the row for a key, once';

create table deprecated_calls (
  api_key_id bigint not null,
  operation text not null,
  day date not null,
  calls bigint not null check (calls > 0),
  primary key (api_key_id, operation, day)
);

comment on table deprecated_calls is 'How often each API key called each deprecated operation, per day';
