-- The settings of the shop. docs/configuration.md names the variables that choose the first values.

create table store_settings (
  is_only boolean primary key default true check (is_only),
  -- The ETag: counts the changes.
  version integer not null default 1,
  updated_at timestamptz not null default now(),
  name text not null default '' check (char_length(name) <= 100),
  -- Lines of text, like the text of the receipt.
  address text not null default '' check (char_length(address) <= 500),
  receipt_text text not null default '' check (char_length(receipt_text) <= 1000),
  -- Otherwise a receipt says that it is not one.
  is_tax_invoice boolean not null default false,
  -- Of new prices.
  currency text not null default 'EUR' check (currency ~ '^[A-Z]{3}$'),
  -- Where a day begins and ends. A name that PostgreSQL and JavaScript know.
  time_zone text not null default 'UTC' check (char_length(time_zone) between 1 and 100),
  -- Days before this time may be those of another time zone.
  time_zone_since timestamptz not null default '-infinity'
);

comment on table store_settings is 'The settings of the shop, in one row, which the first migration adds. The service can change it, and neither add nor delete one';

-- `petstore migrate` passes the variables, and the time zone of its host.
do $$
declare
  given_currency text := nullif(current_setting('petstore.currency', true), '');
  given_zone text := nullif(current_setting('petstore.time_zone', true), '');
  host_zone text := current_setting('petstore.host_time_zone', true);
begin
  if given_zone is not null and not exists (select from pg_timezone_names where name = given_zone) then
    raise exception 'TIME_ZONE is %, a name that PostgreSQL does not know. Set another one, such as Europe/Berlin.', given_zone;
  end if;
  insert into store_settings default values;
  update store_settings set
    currency = coalesce(given_currency, currency),
    time_zone = coalesce(given_zone, (select name from pg_timezone_names where name = host_zone), time_zone);
end $$;
