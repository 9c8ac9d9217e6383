-- The price of an order. Both columns are null without a price. Adding them rewrites no row.

alter table orders
  -- Keeps the decimal places that were written, so that the text of a price and of a sum has those of its currency.
  add column price numeric,
  add column currency text,
  -- Without a scan of the table, which would block requests. 0016_sales.ts checks the earlier rows.
  add constraint orders_price_check check (
    (price is null) = (currency is null) and price >= 0 and price < 10000000000 and currency ~ '^[A-Z]{3}$'
  ) not valid;

-- The price in the profile of a pet; no row without a price. Volatile, so that it sees what was committed while the statement
-- that calls it waited for the lock of the pet: a change of a profile holds this lock.
create function pet_price(of_pet_id bigint) returns table (price numeric, currency text) language sql volatile
begin atomic
  select pet_profiles.price, pet_profiles.currency from pet_profiles
  where pet_profiles.pet_id = of_pet_id and pet_profiles.price is not null;
end;
