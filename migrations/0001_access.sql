-- Access: the actors, their API keys, and people who sign in with an identity provider. docs/decisions/0011-people.md explains
-- the choices.

create table actors (
  id bigint primary key generated always as identity,
  kind text not null check (kind in ('program', 'person')),
  name text not null check (char_length(name) between 1 and 100),
  -- Identifies the person at the identity provider. Null for a program.
  subject text collate "C" unique check (char_length(subject) between 1 and 255),
  created_at timestamptz not null default now(),
  check (subject is null or kind = 'person')
);

comment on table actors is 'Everybody who can change something: programs and people. History, orders and events refer to it and show the present name. Rows are never deleted, so other tables refer to them without a foreign key: its check would lock the row for each change';

create table api_keys (
  id bigint primary key generated always as identity,
  -- SHA-256 of the key. The key has 256 random bits, so a slow hash would add no security.
  hash bytea not null unique check (octet_length(hash) = 32),
  -- All keys of a person have the same actor, and so have a key and its successors by rotation.
  actor_id bigint not null references actors,
  scopes text[] not null,
  rate_limit integer check (rate_limit > 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Lifetime of the key at its creation; null if the key does not expire. Rotation gives the new key the same lifetime.
  lifetime_seconds float8
);

comment on table api_keys is 'The keys of programs and of people. A person gets a personal key when signing in, so that limits and revocation work as they do for programs. The service deletes a personal key some time after its end';

create index api_keys_by_actor on api_keys (actor_id, id);

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
  api_key_id bigint not null references api_keys on delete cascade,
  operation text not null,
  day date not null,
  calls bigint not null check (calls > 0),
  primary key (api_key_id, operation, day)
);

comment on table deprecated_calls is 'How often each API key called each deprecated operation, per day';
