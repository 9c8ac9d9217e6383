-- The till: an append-only ledger of the money of orders, and the closings of days. docs/decisions/0021-till.md explains the
-- choices.

create type entry_kind as enum ('deposit', 'sale', 'correction', 'refund', 'forfeit', 'void', 'cash');
create type payment_method as enum ('cash', 'card', 'transfer', 'other');

create table entries (
  id bigint primary key generated always as identity,
  -- These three are null in entries of the kind `cash`, which belong to no order.
  order_id bigint references orders,
  pet_id bigint,
  -- The category of the pet when it was sold: a later change of the pet moves no money.
  category_id bigint,
  -- Whose sale it is, and who wrote the entry. No foreign keys: their checks would lock the row of an actor for every sale.
  -- Null if the service does not know it.
  seller_id bigint,
  actor_id bigint,
  at timestamptz not null,
  -- The day of the shop for which the entry counts.
  day date not null,
  kind entry_kind not null,
  -- Null if the request did not say it.
  method payment_method,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Into the till; net sales; net pets sold. They keep the decimal places of the currency.
  paid numeric not null,
  sales numeric not null,
  pets smallint not null,
  voids bigint references entries,
  reason text check (reason in ('wrong_price', 'changed_mind', 'ill', 'discount', 'other')),
  -- What the cash was for: the only free text. Notes about customers are in their orders, where they can be erased.
  note text check (char_length(note) between 1 and 500),
  -- Null if the entry was written by hand in SQL.
  request_id text,
  -- For the planner, which cannot estimate a comparison of two columns.
  moves_deposit boolean not null generated always as (kind <> 'cash' and paid <> sales) stored,
  constraint entries_amounts_check check (case kind
    when 'deposit' then paid > 0 and sales = 0 and pets = 0
    when 'sale' then sales >= 0 and pets = 1
    when 'correction' then paid = sales and sales <> 0 and pets = 0
    -- With the pet or without it, and of a deposit, of which the rest becomes sales.
    when 'refund' then (paid = sales and paid <= 0 and pets = -1) or (paid < 0 and pets = 0 and (paid = sales or sales >= 0))
    when 'forfeit' then paid = 0 and sales > 0 and pets = 0
    when 'cash' then paid <> 0 and sales = 0 and pets = 0
    else true
  end),
  constraint entries_voids_check check ((kind = 'void') = (voids is not null)),
  constraint entries_order_check check ((kind = 'cash') = (order_id is null) and (order_id is null) = (pet_id is null)),
  constraint entries_cash_check check (
    case when kind = 'cash' then note is not null and method = 'cash' and category_id is null and seller_id is null
    else note is null end
  )
);

comment on table entries is 'The ledger: one row per movement of money, never changed. Each entry has three signed numbers: `paid` into the till, net `sales` and net `pets` sold. Every total is a sum of entries; `paid` minus `sales` is the deposit that is held';

create index entries_by_day on entries (day, id);
-- Null for cash, of which there is little.
create index entries_by_pet on entries (pet_id, day, id);
create unique index entries_one_sale_per_order on entries (order_id) where kind = 'sale';
create unique index entries_by_voided on entries (voids) where voids is not null;
-- For the expected cash and for the deposits that are held: sums without a first day.
create index entries_of_cash on entries (day) include (paid, currency) where method = 'cash';
-- Cash put in and taken out.
create index entries_of_movements on entries (day) where kind = 'cash';
create index entries_of_deposits on entries (day) include (paid, sales, currency) where moves_deposit;

create table day_closings (
  day date primary key,
  at timestamptz not null,
  closed_by bigint,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- The cash that the ledger says is in the drawer, the counted cash, and the part of it that stays for the next day.
  expected numeric not null,
  counted numeric not null check (counted >= 0),
  kept numeric not null check (kept between 0 and counted),
  note text check (char_length(note) between 1 and 500)
);

comment on table day_closings is 'The closed days. A closing also closes the earlier days. No later entry counts for a closed day';

-- The clock of the till. Tests replace it.
create function till_now() returns timestamptz language sql volatile
  return clock_timestamp();

-- The day of the shop for an entry of this time. After its closing, it is the next day. Volatile, so that it sees a closing that
-- was committed while the statement waited for the lock of the till.
create function till_day(moment timestamptz) returns date language sql volatile
begin atomic
  select greatest((moment at time zone time_zone)::date, (select max(day) + 1 from day_closings)) from store_settings;
end;

-- The time and the day of a new entry. Entries share the lock of the till, which a closing takes alone: the time is read under
-- the lock, so that no entry is of a day that was closed meanwhile. The locks of the pet and of the order come first.
create function till_moment() returns table (at timestamptz, day date) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('petstore till'));
  at := till_now();
  day := till_day(at);
  return next;
end $$;

-- The money of an order. `paid` is null without entries. A sold pet was brought back if its sale was voided, or it was taken back.
create function order_balance(of_pet_id bigint, of_order_id bigint) returns table (
  paid numeric, sales numeric, pets bigint, currency text, was_sold boolean, brought_back_at timestamptz
) language sql stable
begin atomic
  select sum(entries.paid), sum(entries.sales), sum(entries.pets), max(entries.currency), bool_or(entries.kind = 'sale'),
    case when bool_or(entries.kind = 'sale') and sum(entries.pets) = 0 then max(entries.at) filter (where entries.pets < 0) end
  from entries where entries.pet_id = of_pet_id and entries.order_id = of_order_id;
end;

-- Rules of an entry that depend on other rows. They hold for the service and for SQL by hand alike.
create function check_entries() returns trigger language plpgsql as $$
declare
  broken text;
begin
  -- A batch of sales that completes none must not wait for a closing.
  if not exists (select from inserted) then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('petstore till'));
  perform from orders where id = any(array(select order_id from inserted)) order by id for no key update;
  select 'entry ' || id || ': ' || rule into broken
  from (
    select id, 'its day must be that of its time, and open' as rule
    from inserted where kind <> 'void' and day <> till_day(at)
    union all
    select inserted.id, 'a void must be the opposite of an entry of an open day'
    from inserted left join entries as voided on voided.id = inserted.voids
    where inserted.kind = 'void' and (
      voided.kind in ('void', 'cash') or inserted.day <= (select max(day) from day_closings)
      or (inserted.order_id, inserted.category_id, inserted.seller_id, inserted.day, inserted.method, inserted.currency,
        inserted.paid, inserted.sales, inserted.pets) is distinct from (voided.order_id, voided.category_id, voided.seller_id,
        voided.day, voided.method, voided.currency, -voided.paid, -voided.sales, -voided.pets)
    )
    union all
    select inserted.id, 'its order must be for its pet, and completed by a sale'
    from inserted join orders on orders.id = inserted.order_id
    where orders.pet_id <> inserted.pet_id or (inserted.kind = 'sale' and orders.status <> 'completed')
    union all
    select inserted.id, 'the sums of its order must be one currency, 0 or 1 pet, no more than was paid, and no deposit of a sold pet'
    from inserted cross join lateral order_balance(inserted.pet_id, inserted.order_id) as balance
    where inserted.order_id is not null and (
      balance.pets not in (0, 1) or balance.sales < 0 or balance.paid < balance.sales
      or (balance.pets = 1 and balance.paid <> balance.sales) or balance.currency <> inserted.currency
    )
  ) as faults
  order by id limit 1;
  if broken is not null then
    raise exception '%', broken using errcode = 'check_violation';
  end if;
  return null;
end $$;

create trigger check_entries after insert on entries
  referencing new table as inserted for each statement execute function check_entries();

-- The amounts are text, because a JSON number would lose its decimal places. The order has its balance after the entry.
create function record_entries() returns trigger language plpgsql as $$
begin
  insert into outbox (type, count, pet_ids, actor_ids, request_ids, order_states, entries)
  select 'order.entry_added', count(*), array_agg(pet_id), array_agg(actor_id), array_agg(request_id), array_agg(order_state),
    array_agg(entry)
  from (
    select inserted.pet_id, inserted.actor_id, inserted.request_id, (row_number() over (order by inserted.id) - 1) / 1000 as part,
      to_jsonb(orders) || jsonb_build_object('balance', to_jsonb(balance) || jsonb_build_object(
        'paid', balance.paid::text, 'sales', balance.sales::text)) as order_state,
      to_jsonb(inserted) || jsonb_build_object('paid', inserted.paid::text, 'sales', inserted.sales::text) as entry
    from inserted
    join orders on orders.id = inserted.order_id
    cross join lateral order_balance(inserted.pet_id, inserted.order_id) as balance
    order by inserted.id
  ) as parts
  group by part
  order by part;
  return null;
end $$;

create trigger record_entries after insert on entries
  referencing new table as inserted for each statement execute function record_entries();

-- A statement that completes an order also inserts its sale.
create function check_completed_orders() returns trigger language plpgsql as $$
declare
  broken bigint := (
    select id from after
    where (status = 'completed') <> exists (select from entries where order_id = after.id and kind = 'sale')
    order by id limit 1
  );
begin
  if broken is not null then
    raise exception 'order % must be completed in the statement that inserts its sale into entries', broken
      using errcode = 'check_violation';
  end if;
  return null;
end $$;

create trigger check_completed_new after insert on orders
  referencing new table as after for each statement execute function check_completed_orders();
create trigger check_completed after update on orders
  referencing new table as after for each statement execute function check_completed_orders();

-- Without this, a pet could become available without a refund, and be sold twice.
create function check_returned_pets() returns trigger language plpgsql as $$
declare
  broken bigint := (
    select before.id from before join after using (id)
    where before.status = 'sold' and after.status <> 'sold'
      and (select sum(entries.pets) from entries where entries.pet_id = before.id) > 0
    order by 1 limit 1
  );
begin
  if broken is not null then
    raise exception 'pet % was sold: insert its refund or void into entries first', broken using errcode = 'check_violation';
  end if;
  return null;
end $$;

create trigger check_returned after update on pets
  referencing old table as before new table as after for each statement execute function check_returned_pets();

-- The cash that should be in the drawer at the end of a day after the last closed one, in the currency of the shop.
create function expected_cash(of_day date) returns numeric language sql stable
begin atomic
  select coalesce(case when last.currency = store_settings.currency then last.kept end, 0) + (
    select coalesce(sum(paid), 0) from entries
    where method = 'cash' and entries.currency = store_settings.currency
      and entries.day > coalesce(last.day, '-infinity') and entries.day <= of_day
  )
  from store_settings left join (select * from day_closings order by day desc limit 1) as last on true;
end;

-- A closing waits for the entries in flight, and computes what they say.
create function close_day() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('petstore till'));
  -- Only the demo gives a time, for days of its past.
  new.at := coalesce(new.at, till_now());
  if new.day <= (select max(day) from day_closings)
    or new.day > (select (new.at at time zone time_zone)::date from store_settings) then
    raise exception 'day % is closed already, or has not begun', new.day using errcode = 'check_violation';
  end if;
  new.currency := (select currency from store_settings);
  new.expected := expected_cash(new.day);
  return new;
end $$;

create trigger close_day before insert on day_closings for each row execute function close_day();

create function reject_change() returns trigger language plpgsql as $$
declare
  has_rows boolean;
begin
  execute format('select exists (select from %I)', tg_table_name) into has_rows;
  if not has_rows then
    return null;
  end if;
  raise exception '% are never changed or deleted: insert another one', tg_table_name using errcode = 'check_violation';
end $$;

create trigger entries_are_final before update or delete or truncate on entries
  for each statement execute function reject_change();
create trigger closings_are_final before update or delete or truncate on day_closings
  for each statement execute function reject_change();
