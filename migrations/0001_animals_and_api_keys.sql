-- The catalogue, the API keys, the named categories, and what makes a repeated create safe.

create type pet_status as enum ('available', 'pending', 'sold');

create table api_keys (
  id bigint primary key generated always as identity,
  -- SHA-256 of the key. The key has 256 random bits, so a slow hash would buy nothing.
  hash bytea not null unique check (octet_length(hash) = 32),
  name text not null check (char_length(name) between 1 and 100),
  scopes text[] not null,
  rate_limit integer check (rate_limit > 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- How long it was made for; a successor gets the same. Null: without an end.
  lifetime_seconds float8
);

create sequence pets_id_seq as bigint;

-- Who added an animal, when and by which request are columns here and not a row of a history, since a
-- create is the most frequent write. Wide columns first: no padding between them.
create table pets (
  id bigint primary key default nextval('pets_id_seq'),
  category_id bigint not null check (category_id > 0),
  created_at timestamptz not null default now(),
  -- No foreign key: checking it would lock the same row of api_keys for every create.
  created_by bigint,
  status pet_status not null default 'available',
  name text not null check (char_length(name) between 1 and 500),
  request_id text
);

alter sequence pets_id_seq owned by pets.id;

-- One index per way to walk the list. Each holds the filter's columns before the id, so that a page
-- is one range read backwards, whatever the planner believes about how frequent a status is. The "+ 0" makes
-- the last one and pets_by_category strangers: with a shared first column PostgreSQL sometimes takes the wrong
-- one and sorts a whole category.
create index pets_by_status on pets (status, id);
create index pets_by_category on pets (category_id, id);
create index pets_by_category_and_status on pets ((category_id + 0), status, id);

-- The named ones. An animal may carry any category id, so nothing refers to this table.
create table categories (
  id bigint primary key check (id > 0),
  name text not null check (char_length(name) between 1 and 100)
);

create table idempotency_keys (
  api_key_id bigint not null,
  key text not null,
  -- SHA-256 of the operation and its validated values.
  fingerprint bytea not null,
  -- The body of the first answer, as text: digits beyond 2^53 stay as they were.
  answer text not null,
  created_at timestamptz not null default now(),
  primary key (api_key_id, key)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
