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

-- The advisory lock of a key, from its hash. The locks of background jobs are numbers of 32 bits: hashtext('petstore …'). A client
-- can choose a key with any hash, so hashes of 32 bits are moved away. Otherwise, a client could stop a job.
create function idempotency_lock(actor_id bigint, key text) returns bigint language sql immutable
begin atomic
  select case when hash between -2147483648 and 2147483647 then hash # 4611686018427387904 else hash end
  from (select hashtextextended(key, actor_id) as hash) as hashed;
end;
