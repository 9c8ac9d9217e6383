-- The catalogue, the API keys, the named categories, and the idempotency keys that make retries safe.

create type pet_status as enum ('available', 'pending', 'sold');

create table api_keys (
  id bigint primary key generated always as identity,
  -- SHA-256 of the key. The key has 256 random bits, so a slow hash would add no security.
  hash bytea not null unique check (octet_length(hash) = 32),
  name text not null check (char_length(name) between 1 and 100),
  scopes text[] not null,
  rate_limit integer check (rate_limit > 0),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Lifetime of the key at its creation; null if the key does not expire. Rotation gives the new key the same lifetime.
  lifetime_seconds float8
);

create sequence pets_id_seq as bigint;

-- The creation of a pet is recorded in columns of this table. A row in a history table would add a second insert to the
-- most frequent write. Wide columns come first, which avoids padding.
create table pets (
  id bigint primary key default nextval('pets_id_seq'),
  category_id bigint not null check (category_id > 0),
  created_at timestamptz not null default now(),
  -- No foreign key: its check would lock the row of the API key in api_keys for every create.
  created_by bigint,
  status pet_status not null default 'available',
  name text not null check (char_length(name) between 1 and 500),
  request_id text
);

alter sequence pets_id_seq owned by pets.id;

-- One index per combination of filters. In each index, the filter columns come before the id, so that a page is one
-- range of the index, read backwards, regardless of the planner's estimates for a status. Because of the "+ 0", the
-- last index and pets_by_category have different first columns. With the same first column, PostgreSQL may use
-- pets_by_category for both filters and sort a whole category, for example while the table is not analysed.
create index pets_by_status on pets (status, id);
create index pets_by_category on pets (category_id, id);
create index pets_by_category_and_status on pets ((category_id + 0), status, id);

-- The categories that have a name. A pet may have any category id, so no foreign key refers to this table.
create table categories (
  id bigint primary key check (id > 0),
  name text not null check (char_length(name) between 1 and 100)
);

create table idempotency_keys (
  api_key_id bigint not null,
  key text not null,
  -- SHA-256 of the operation and its validated values.
  fingerprint bytea not null,
  -- The stored response: the id of a pet, or an order as JSON. Text keeps numbers above 2^53 exact.
  answer text not null,
  created_at timestamptz not null default now(),
  primary key (api_key_id, key)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
