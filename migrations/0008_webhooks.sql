-- Webhooks: URLs to which `petstore deliver` sends every event of the chosen types. docs/decisions/0012-webhooks.md
-- explains the choices.
--
-- The event feed is the queue, and each webhook has a position in it.

create table webhooks (
  id bigint primary key generated always as identity,
  url text not null check (char_length(url) <= 2048),
  description text,
  types event_type[] not null check (cardinality(types) > 0),
  created_at timestamptz not null default now(),
  -- Why the webhook is disabled; null while it is enabled.
  disabled_reason text check (disabled_reason in ('caller', 'failing', 'gone')),
  disabled_at timestamptz,
  -- Counts the changes that a process must take over: a new secret, a test event or a redelivery.
  version bigint not null default 1,
  -- Counts the changes after which a process must load the webhook again: its URL, its types or its position.
  restarts bigint not null default 0,
  epoch text collate "C" not null,
  number bigint not null,
  -- The events after the position that need no further attempt: later events can be delivered first.
  done int8multirange not null default '{}',
  -- Since when every attempt has failed; null after a success.
  failing_since timestamptz,
  -- The process that delivers. No other process delivers before the lease has ended.
  deliverer uuid,
  leased_until timestamptz,
  check ((disabled_reason is null) = (disabled_at is null))
)
-- Room for new versions of a row on its page, because the position changes often.
with (fillfactor = 50);

comment on table webhooks is 'URLs to which events are sent, and how far: every event up to the position is delivered, given up, or has a row in `webhook_retries`';

create table webhook_secrets (
  id bigint primary key generated always as identity,
  webhook_id bigint not null references webhooks on delete cascade,
  secret bytea not null check (octet_length(secret) between 24 and 64),
  -- A rotated secret is used until this time, together with the new one. Null for the newest secret.
  expires_at timestamptz
);

comment on table webhook_secrets is 'The secrets that sign the messages of a webhook. In a table of its own, so that the role of the service can add secrets but not read them';

create index webhook_secrets_by_webhook on webhook_secrets (webhook_id);

create table webhook_retries (
  id bigint primary key generated always as identity,
  webhook_id bigint not null references webhooks on delete cascade,
  kind text not null check (kind in ('event', 'redelivery', 'test')),
  -- The number of the event; null for a test event.
  number bigint,
  pet_id bigint,
  type text not null,
  occurred_at timestamptz not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  check ((number is null) = (kind = 'test'))
);

comment on table webhook_retries is 'Messages that wait for a retry or were requested by a caller, and later events of the same pets';

create unique index webhook_retries_by_number on webhook_retries (webhook_id, number) where kind = 'event';
create index webhook_retries_by_webhook on webhook_retries (webhook_id, id);

create table webhook_deliveries (
  webhook_id bigint not null references webhooks on delete cascade,
  id bigint not null generated always as identity,
  at timestamptz not null,
  message_id text not null,
  kind text not null,
  number bigint,
  pet_id bigint,
  type text not null,
  occurred_at timestamptz not null,
  attempt integer not null,
  outcome text not null check (outcome in ('delivered', 'failed', 'given_up', 'skipped')),
  -- The status of the response, or why there was none.
  response_status integer,
  failure text,
  duration_ms integer not null,
  primary key (webhook_id, id)
);

comment on table webhook_deliveries is 'The newest attempts of each webhook, for its owner to read';
