-- Orders: an open order holds its pet, a completed one has sold it.

create type order_status as enum ('open', 'completed', 'cancelled', 'expired');

create table orders (
  id bigint primary key generated always as identity,
  pet_id bigint not null references pets (id),
  -- The actor.
  placed_by bigint not null,
  created_at timestamptz not null,
  -- The end of the hold, if the order is still open then.
  expires_at timestamptz not null,
  closed_at timestamptz,
  status order_status not null default 'open',
  note text check (char_length(note) between 1 and 500),
  -- The price when the order was placed. Keeps the decimal places that were written, so that the text of a price and of
  -- a sum has those of its currency. Null without a price.
  price numeric,
  currency text,
  check (expires_at > created_at),
  check ((status = 'open') = (closed_at is null)),
  constraint orders_price_check check (
    (price is null) = (currency is null) and price >= 0 and price < 10000000000 and currency ~ '^[A-Z]{3}$'
  )
);

comment on table orders is 'One row per order. An open order is a hold, a completed one is a sale';

-- Allows one open order per pet, so that two open orders cannot sell the same pet, even if the code has defects.
create unique index orders_one_open_per_pet on orders (pet_id) where status = 'open';
create index orders_open_by_expiry on orders (expires_at) where status = 'open';
create index orders_by_status on orders (status, id);
create index orders_by_pet on orders (pet_id, id);
-- The "+ 0" has the same purpose as in pets_by_category_and_status.
create index orders_by_pet_and_status on orders ((pet_id + 0), status, id);
-- Contains the price, so that PostgreSQL adds up the sales of a day without reading the table.
create index orders_completed_by_closing on orders (closed_at, id) include (price, currency)
  where status = 'completed';
