-- Idempotency keys, which make retries of writes safe.

create table idempotency_keys (
  -- The actor: a request that was sent with one key of an actor can be retried with another one.
  actor_id bigint not null,
  key text not null,
  -- SHA-256 of the operation and its validated values.
  fingerprint bytea not null,
  -- The stored response: the id of a pet, or an order as JSON. Text keeps numbers above 2^53 exact.
  response text not null,
  created_at timestamptz not null default now(),
  primary key (actor_id, key)
);

comment on table idempotency_keys is 'The response to each request with an `Idempotency-Key`, written in the transaction of the request. A retry gets it again';

create index idempotency_keys_by_age on idempotency_keys (created_at);
