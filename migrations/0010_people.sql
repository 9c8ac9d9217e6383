-- People who sign in with an identity provider. docs/decisions/0011-people.md explains the choices.
--
-- A person gets a personal API key, so that history, limits and revocation work as they do for programs. Processes of
-- the earlier version list personal keys like others, and create keys with the default kind.

alter table api_keys
  add column kind text not null default 'program' check (kind in ('program', 'personal')),
  -- Identifies the person at the identity provider. Null for a program, and after a personal key was purged: the row
  -- stays, because history and orders show its name.
  add column subject text collate "C" check (char_length(subject) between 1 and 255),
  -- The first key of the same person, or the first one before all rotations. It stands for the owner of the key: a request
  -- that was sent with one key of an owner can be retried with another one. Null for that key itself.
  add column owner_id bigint;

-- Lists skip purged keys with this index, so that years of sign-ins do not slow them down.
create index api_keys_listed on api_keys (id) where kind = 'program' or subject is not null;
create index api_keys_by_subject on api_keys (subject, id) where subject is not null;

-- Sign-ins in progress. A row is deleted when the identity provider sends the person back.
create table sign_ins (
  -- SHA-256 of the parameter `state` and of the cookie. Reading this table is not enough to finish a sign-in.
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  cookie_hash bytea not null check (octet_length(cookie_hash) = 32),
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  expires_at timestamptz not null
);

create index sign_ins_by_expiry on sign_ins (expires_at);

-- People whom the identity provider has authenticated. The page exchanges the row for a key, once.
create table finished_sign_ins (
  cookie_hash bytea primary key check (octet_length(cookie_hash) = 32),
  subject text not null,
  name text not null,
  role text not null,
  return_to text not null,
  expires_at timestamptz not null
);
