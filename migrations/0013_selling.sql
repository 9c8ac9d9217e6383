-- Selling: holds and sales of many requests in one statement. docs/decisions/0022-selling-in-batches.md explains the choices.
--
-- Each function first locks the pets. Only a second statement reads what it decides by, so that it sees what was committed before
-- it got the locks: the status of a pet, its order, the price in its profile, a stored response. A transaction locks the keys of
-- requests, then pets, then orders, then the till.
--
-- With `waits`, a function waits for the lock of a pet, and decides every item. It must be called with one item then: with several,
-- two calls could deadlock. Without it, a function waits for nothing, and leaves `undecided` what it cannot decide without waiting.
-- The lock is `for update`: a weaker one deadlocks with a foreign key that holds the pet `for key share`.
--
-- Every statement reads single rows by an index, whatever the statistics are when it is planned. It is planned once per connection.

-- Whether a request may give this price and currency, either of which can be null; as currencyOf() in src/contract/price.ts, which
-- says what is wrong.
create function accepts_price(price text, currency text, stored_price numeric, stored_currency text, shop_currency text)
returns boolean language sql immutable
  return (price is null and currency is null)
    or coalesce(price = stored_price::text and currency = stored_currency, false)
    or case when currency is null then coalesce(stored_currency, shop_currency) = shop_currency else currency = shop_currency end;

-- A time in JSON, as the API has it.
create function json_time(moment timestamptz) returns text language sql stable
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Places orders. Returns one row per item, in their order. `response` is the order as JSON, without the name of the actor, or the
-- stored response. Outcomes:
-- - placed
-- - replayed, key_reused: the key of the request has a stored response, to this request or to another one
-- - key_in_use: another request has locked the key
-- - other_currency: the currency of the price is wrong; returned with the stored price
-- - not_found, not_available: the pet; returned with its status
-- - undecided
create function place_orders(
  pet_ids bigint[], actor_ids bigint[], request_ids text[], hold_minutes integer[], notes text[], prices text[], currencies text[],
  shop_currencies text[], keys text[], fingerprints bytea[], waits boolean, waits_for_keys boolean
) returns table (outcome text, response text, pet_status pet_status, stored_price text, stored_currency text)
language plpgsql volatile set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  own_keys boolean[];
  own_pets bigint[];
  is_pending boolean;
  moment timestamptz;
begin
  -- Waits for a change of the shop's currency, so that the time and the prices are those after it.
  lock table orders in row exclusive mode;
  select array_agg(case when waits_for_keys then pg_advisory_xact_lock(lock) is not null else pg_try_advisory_xact_lock(lock) end
      order by position) into own_keys
  from unnest(actor_ids, keys) with ordinality as item (actor_id, key, position)
  cross join lateral idempotency_lock(actor_id, key) as lock;

  if waits then
    select array_agg(own.id), bool_or(own.status = 'pending') into own_pets, is_pending
    from (select pets.id, pets.status from pets where pets.id = pet_ids[1] for update) as own;
  else
    select array_agg(own.id), bool_or(own.status = 'pending') into own_pets, is_pending
    from unnest(pet_ids) as item (pet_id)
    cross join lateral (
      select pets.id, pets.status from pets where pets.id = item.pet_id limit 1 for update skip locked
    ) as own;
  end if;
  own_pets := coalesce(own_pets, '{}');
  moment := clock_timestamp();

  -- A hold that has expired and is not swept yet. Nobody in particular ends it.
  if is_pending and exists (
    select from orders where pet_id = any(own_pets) and status = 'open' and expires_at <= moment
  ) then
    perform set_config('petstore.pet_ids', pet_ids::text, true),
      set_config('petstore.actor_ids', array_fill(null::bigint, array[cardinality(pet_ids)])::text, true),
      set_config('petstore.request_ids', request_ids::text, true);
    with expired as (
      update orders set status = 'expired', closed_at = expires_at
      where pet_id = any(own_pets) and status = 'open' and expires_at <= moment
      returning orders.pet_id
    ), freed as (
      update pets set status = 'available', version = version + 1
      from expired where pets.id = expired.pet_id
      returning pets.id
    )
    insert into pet_history (pet_id, event, from_status, to_status, actor_id, request_id, at)
    select id, 'order_expired', 'pending', 'available', null, request_ids[array_position(pet_ids, id)], moment from freed;
  end if;

  return query
  with input as materialized (
    select item.*, pet.status, profile.price as profile_price, profile.currency as profile_currency,
      stored.fingerprint as stored_fingerprint, stored.response as stored_response
    from unnest(pet_ids, actor_ids, request_ids, hold_minutes, notes, prices, currencies, shop_currencies, keys, fingerprints,
        own_keys)
      with ordinality as item (pet_id, actor_id, request_id, minutes, note, price, currency, shop_currency, key, fingerprint,
        owns_key, position)
    left join lateral (
      select idempotency_keys.fingerprint, idempotency_keys.response from idempotency_keys
      where idempotency_keys.actor_id = item.actor_id and idempotency_keys.key = item.key
      limit 1
    ) as stored on item.key is not null
    left join lateral (select pets.status from pets where pets.id = item.pet_id limit 1) as pet on true
    left join lateral (
      select pet_profiles.price, pet_profiles.currency from pet_profiles
      where pet_profiles.pet_id = item.pet_id and pet_profiles.price is not null
      limit 1
    ) as profile on true
  ), decided as materialized (
    select input.*, case
      -- A stored response never changes, so a replay does not need the lock of the key.
      when stored_fingerprint = fingerprint then 'replayed'
      when stored_fingerprint is not null then 'key_reused'
      when key is not null and not owns_key then 'key_in_use'
      when not accepts_price(price, currency, profile_price, profile_currency, shop_currency) then 'other_currency'
      when status is null then 'not_found'
      when pet_id <> all(own_pets) then 'undecided'
      when status <> 'available' then 'not_available'
      -- The lock does not stop a second item with the same key, or for the same pet.
      when key is not null and exists (
        select from input as earlier
        where earlier.key = input.key and earlier.actor_id = input.actor_id and earlier.position < input.position
      ) then 'undecided'
      when array_position(pet_ids, pet_id) < position then 'after_another'
      else 'placed'
    end as decision
    from input
  ), made as materialized (
    select set_config('petstore.pet_ids', array_agg(pet_id)::text, true),
      set_config('petstore.actor_ids', array_agg(actor_id)::text, true),
      set_config('petstore.request_ids', array_agg(request_id)::text, true)
    from decided where decision = 'placed'
  ), moved as (
    update pets set status = 'pending', version = version + 1
    from decided cross join made
    where decided.decision = 'placed' and pets.id = decided.pet_id
    returning decided.*
  ), recorded as (
    insert into pet_history (pet_id, event, from_status, to_status, actor_id, request_id, at)
    select pet_id, 'order_placed', 'available', 'pending', actor_id, request_id, moment from moved
  ), placed as (
    insert into orders (pet_id, placed_by, note, created_at, expires_at, price, currency)
    select pet_id, actor_id, note, moment, moment + make_interval(mins => minutes), coalesce(price::numeric, profile_price),
      case when price is null then profile_currency else coalesce(currency, shop_currency) end
    from moved
    returning orders.*
  ), responses as materialized (
    select moved.position, moved.actor_id, moved.key, moved.fingerprint, json_strip_nulls(json_build_object(
      'id', placed.id, 'petId', placed.pet_id, 'status', placed.status, 'note', placed.note, 'price', placed.price::text,
      'currency', placed.currency, 'createdAt', json_time(placed.created_at), 'expiresAt', json_time(placed.expires_at)
    ))::text as response
    from placed join moved on moved.pet_id = placed.pet_id
  ), claimed as (
    insert into idempotency_keys (actor_id, key, fingerprint, response)
    select responses.actor_id, responses.key, responses.fingerprint, responses.response from responses
    where responses.key is not null
  ), durable as materialized (
    -- Without a write, the commit would not wait for the standbys: a replay must be as durable as its first response.
    select count(pg_logical_emit_message(true, 'petstore', '')) from decided where decision = 'replayed'
  )
  select case when decision = 'after_another'
      then case when exists (select from moved where moved.pet_id = decided.pet_id) then 'not_available' else 'undecided' end
      else decision end,
    coalesce(responses.response, case when decision = 'replayed' then stored_response end),
    case when decision = 'after_another' then 'pending' else decided.status end, profile_price::text, profile_currency
  from decided cross join durable left join responses on responses.position = decided.position
  order by decided.position;

  -- A later statement of this transaction has one actor.
  perform set_config('petstore.pet_ids', '', true);
end $$;

-- Completes orders, with their sales in the ledger. Returns one row per item, in their order. `response` is the order as JSON.
-- A price replaces that of the order, and that one the price in the profile of the pet. A sale without a price counts 0. What a
-- deposit has paid is not paid again. Outcomes:
-- - completed
-- - ended: the order has expired, or ended before
-- - not_found
-- - invalid_price: the item is not `are_valid`, and the order is open
-- - other_currency, other_deposit_currency: returned with the stored price, and with the currency of the deposit
-- - undecided
create function complete_orders(
  order_ids bigint[], actor_ids bigint[], request_ids text[], prices text[], currencies text[], shop_currencies text[],
  are_valid boolean[], change_notes boolean[], notes text[], methods payment_method[], reasons text[], waits boolean
) returns table (outcome text, response text, stored_price text, stored_currency text)
language plpgsql volatile set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  own_pets bigint[];
  moment timestamptz;
  till_at timestamptz;
  till_on date;
begin
  if waits then
    select array_agg(own.id) into own_pets
    from (
      select pets.id from pets where pets.id = (select pet_id from orders where orders.id = order_ids[1]) for update
    ) as own;
    perform pg_advisory_xact_lock_shared(hashtext('petstore till'));
  else
    select array_agg(own.id) into own_pets
    from unnest(order_ids) as item (order_id)
    cross join lateral (select orders.pet_id from orders where orders.id = item.order_id limit 1) as held
    cross join lateral (select pets.id from pets where pets.id = held.pet_id limit 1 for update skip locked) as own;
    -- While a day is closed, the items are decided alone, after it.
    if not pg_try_advisory_xact_lock_shared(hashtext('petstore till')) then
      own_pets := null;
    end if;
  end if;
  own_pets := coalesce(own_pets, '{}');
  moment := clock_timestamp();
  till_at := till_now();
  till_on := till_day(till_at);

  return query
  with input as materialized (
    select item.*, held.pet_id, held.status, held.expires_at, pet.category_id, pet.status as pet_status,
      coalesce(held.price, profile.price) as kept_price, coalesce(held.currency, profile.currency) as kept_currency,
      coalesce(balance.paid - balance.sales, 0) as deposit, balance.currency as deposit_currency,
      -- Of a deposit that was settled.
      coalesce(balance.sales, 0) as earlier_sales,
      coalesce(held.currency, balance.currency) as own_currency
    from unnest(order_ids, actor_ids, request_ids, prices, currencies, shop_currencies, are_valid, change_notes, notes, methods,
        reasons)
      with ordinality as item (order_id, actor_id, request_id, price, currency, shop_currency, is_valid, changes_note, note, method,
        reason, position)
    left join lateral (
      select orders.pet_id, orders.status, orders.expires_at, orders.price, orders.currency from orders
      where orders.id = item.order_id
      limit 1
    ) as held on true
    left join lateral (
      select pets.category_id, pets.status from pets where pets.id = held.pet_id limit 1
    ) as pet on true
    left join lateral (
      select pet_profiles.price, pet_profiles.currency from pet_profiles
      where pet_profiles.pet_id = held.pet_id and pet_profiles.price is not null
      limit 1
    ) as profile on held.price is null
    left join lateral order_balance(held.pet_id, item.order_id) as balance on true
  ), priced as materialized (
    select input.*, coalesce(price::numeric, kept_price) as sold_price,
      case when price is null then kept_currency else coalesce(currency, shop_currency) end as sold_currency
    from input
  ), decided as materialized (
    select priced.*, case
      when pet_id is null then 'not_found'
      when status <> 'open' or expires_at <= moment then 'ended'
      when pet_id <> all(own_pets) then 'undecided'
      -- The lock does not stop a second item with the same order.
      when array_position(order_ids, order_id) < position then 'undecided'
      when not is_valid then 'invalid_price'
      when not accepts_price(price, currency, kept_price, kept_currency, shop_currency) then 'other_currency'
      when deposit <> 0 and sold_currency <> own_currency then 'other_deposit_currency'
      else 'completed'
    end as decision
    from priced
  ), made as materialized (
    select set_config('petstore.pet_ids', array_agg(pet_id)::text, true),
      set_config('petstore.actor_ids', array_agg(actor_id)::text, true),
      set_config('petstore.request_ids', array_agg(request_id)::text, true)
    from decided where decision = 'completed'
  ), completed as (
    update orders set status = 'completed', closed_at = moment, price = sold_price, currency = sold_currency,
      note = case when changes_note then decided.note else orders.note end
    from decided cross join made
    where decided.decision = 'completed' and orders.id = decided.order_id
    returning orders.*, decided.position, decided.actor_id, decided.request_id, decided.method, decided.reason, decided.deposit, decided.earlier_sales,
      decided.category_id, decided.pet_status, coalesce(decided.sold_currency, decided.deposit_currency) as entry_currency
  ), sold as (
    insert into entries (order_id, pet_id, category_id, seller_id, actor_id, request_id, at, day, kind, method, currency, paid, sales,
      pets, reason)
    select completed.id, completed.pet_id, completed.category_id, completed.actor_id, completed.actor_id, completed.request_id,
      till_at, till_on, 'sale', completed.method, coalesce(entry_currency, store_settings.currency),
      coalesce(completed.price, 0) - deposit, coalesce(completed.price, 0), 1, completed.reason
    from completed cross join store_settings
    returning entries.order_id, entries.pet_id, entries.currency, entries.sales
  ), moved as (
    update pets set status = 'sold', version = version + 1 from sold where pets.id = sold.pet_id
  ), recorded as (
    insert into pet_history (pet_id, event, from_status, to_status, actor_id, request_id, at)
    select pet_id, 'order_completed', completed.pet_status, 'sold', actor_id, request_id, moment from completed
  ), responses as materialized (
    select completed.position, json_strip_nulls(json_build_object(
      'id', completed.id, 'petId', completed.pet_id, 'status', completed.status, 'note', completed.note,
      'price', completed.price::text, 'netPrice', (completed.earlier_sales + sold.sales)::text, 'currency', sold.currency, 'placedBy', actor.name,
      'createdAt', json_time(completed.created_at), 'expiresAt', json_time(completed.expires_at),
      'closedAt', json_time(completed.closed_at)
    ))::text as response
    from completed join sold on sold.order_id = completed.id
    cross join lateral (select actors.name from actors where actors.id = completed.placed_by limit 1) as actor
  )
  select decision, responses.response, kept_price::text,
    case when decision = 'other_deposit_currency' then own_currency else kept_currency end
  from decided left join responses on responses.position = decided.position
  order by decided.position;

  -- A later statement of this transaction has one actor.
  perform set_config('petstore.pet_ids', '', true);
end $$;
