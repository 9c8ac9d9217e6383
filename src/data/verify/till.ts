// The rules of the ledger and of closings. The triggers of migrations/ enforce most of them when an entry is written: these find
// what was written while triggers were disabled, and what a backup lost.
import { RESTORE_ANOTHER, type Rule } from './check.ts'

const CORRECT_IT =
  'Find out what happened from the history and the logs, and write the entry that is missing or wrong, with a correction, a refund or a void. If triggers were disabled, enable them.'

export const TILL_RULES: readonly Rule[] = [
  {
    fault: 'a completed order without a sale in the ledger, or an order with a sale that is not completed',
    remedy: CORRECT_IT,
    text: `select orders.id from orders
      left join (select order_id from entries where kind = 'sale') as sales on sales.order_id = orders.id
      where (orders.status = 'completed') <> (sales.order_id is not null)`,
  },
  {
    fault:
      'an order whose entries do not add up: to 0 or 1 pets, in one currency, without more sales than money',
    remedy: CORRECT_IT,
    text: `select order_id as id from entries where order_id is not null
      group by order_id
      having sum(pets) not in (0, 1) or sum(sales) < 0 or sum(paid) < sum(sales) or count(distinct currency) > 1
        or (sum(pets) = 1 and sum(paid) <> sum(sales))`,
  },
  {
    fault: 'an entry whose order is missing or is for another pet',
    remedy: RESTORE_ANOTHER,
    text: `select entries.id from entries left join orders on orders.id = entries.order_id
      where entries.order_id is not null and orders.pet_id is distinct from entries.pet_id`,
  },
  {
    fault: 'a void that is not the only opposite of its entry',
    remedy: CORRECT_IT,
    text: `select void.id from entries as void left join entries as voided on voided.id = void.voids
      where void.kind = 'void' and (
        (void.order_id, void.day, void.currency, void.method, void.seller_id, void.category_id, void.paid, void.sales, void.pets)
          is distinct from (voided.order_id, voided.day, voided.currency, voided.method, voided.seller_id, voided.category_id,
            -voided.paid, -voided.sales, -voided.pets)
        or exists (select from entries as other where other.voids = void.voids and other.id <> void.id)
      )`,
  },
  {
    fault: 'an entry whose currency is not that of its order',
    remedy: CORRECT_IT,
    text: `select entries.id from entries join orders on orders.id = entries.order_id
      where orders.currency <> entries.currency`,
  },
  {
    // A void has the day of its entry. The time zone can have changed before.
    fault: 'an entry for another day than that of its time',
    remedy: CORRECT_IT,
    text: `select entries.id from entries cross join store_settings
      where kind <> 'void' and entries.at >= store_settings.time_zone_since
        and entries.day <> greatest((entries.at at time zone time_zone)::date,
          (select max(day_closings.day) + 1 from day_closings where day_closings.at < entries.at))`,
  },
  {
    fault: 'an entry for a day that was closed before',
    remedy: CORRECT_IT,
    text: `select entries.id from entries join day_closings on day_closings.day >= entries.day
      where day_closings.at < entries.at`,
  },
  {
    fault: 'a pet that a sale has sold and that is not sold, or that two sales have sold',
    remedy: CORRECT_IT,
    text: `select sold.pet_id as id from (
        select pet_id, sum(pets) as count from entries where pet_id is not null group by pet_id having sum(pets) > 0
      ) as sold join pets on pets.id = sold.pet_id
      where sold.count > 1 or pets.status <> 'sold'`,
  },
  {
    fault: 'an entry or a closing of an actor that does not exist',
    remedy: RESTORE_ANOTHER,
    text: `select entries.id from entries
      left join actors as actor on actor.id = entries.actor_id left join actors as seller on seller.id = entries.seller_id
      where (actor_id is not null and actor.id is null) or (seller_id is not null and seller.id is null)
      union all
      select to_char(day, 'YYYYMMDD')::bigint from day_closings left join actors on actors.id = closed_by
      where closed_by is not null and actors.id is null`,
  },
  {
    fault: 'a closed day whose expected cash is not that of the ledger',
    remedy: 'Count the drawer again, and record the difference with petstore till cash.',
    text: `select to_char(closing.day, 'YYYYMMDD')::bigint as id
      from (
        select *, lag(day) over (order by day) as day_before, lag(currency) over (order by day) as currency_before,
          lag(kept) over (order by day) as kept_before
        from day_closings
      ) as closing
      where expected <> case when currency_before = currency then kept_before else 0 end + (
        select coalesce(sum(paid), 0) from entries
        where method = 'cash' and entries.currency = closing.currency
          and entries.day > coalesce(closing.day_before, '-infinity') and entries.day <= closing.day
      )`,
  },
]
