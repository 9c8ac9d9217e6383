// The rules of the event feed and of webhooks. migrations/0006_events.sql and 0011_webhooks.sql explain the tables.
import { CURRENT_EPOCH, EPOCH_START, NEWEST_NUMBER } from '../../events/feed/queries.ts'
import { RESTORE_ANOTHER, type Rule } from './check.ts'

/** Readers cannot read events of earlier epochs, so a new epoch fixes damaged events. */
const NEW_EPOCH = 'Run: petstore events new-epoch'

/** An array of a row has one element per event, or is null. */
const arraysDiffer = ['pet_ids', 'category_ids', 'statuses', 'names', 'changed', 'api_key_ids', 'request_ids']
  .map((column) => `cardinality(outbox.${column}) <> outbox.count`)
  .join(' or ')

export const FEED_RULES: readonly Rule[] = [
  {
    fault: 'a feed without its state or its epoch, in the table',
    remedy: RESTORE_ANOTHER,
    text: `select 'event_numbers' as id
        where (select scanned_to from event_numbers order by first_number desc limit 1) is null
      union all select 'event_epochs' where not exists (select from event_epochs)`,
  },
  {
    fault: 'an epoch that starts after the newest event',
    remedy: NEW_EPOCH,
    text: `select epoch as id from event_epochs
      where id = (select max(id) from event_epochs) and after_number > ${NEWEST_NUMBER}`,
  },
  {
    fault: 'a gap in the numbers of events, before the number',
    remedy: NEW_EPOCH,
    text: `select first_number as id from (
        select first_number, lag(first_number + count) over (order by first_number) as expected from event_numbers
      ) as numbers
      where first_number > ${EPOCH_START} and first_number <> expected`,
  },
  {
    fault: 'a number of an event without its outbox row',
    remedy: NEW_EPOCH,
    text: `select numbers.first_number as id from event_numbers as numbers
      left join outbox on outbox.id = numbers.outbox_id
      where numbers.first_number > ${EPOCH_START} and numbers.outbox_id is not null and outbox.id is null`,
  },
  {
    fault: 'a number of an event that differs from its outbox row',
    remedy: NEW_EPOCH,
    text: `select numbers.first_number as id from event_numbers as numbers
      join outbox on outbox.id = numbers.outbox_id
      where numbers.first_number > ${EPOCH_START}
        and (numbers.count <> outbox.count or numbers.type is distinct from outbox.type or ${arraysDiffer})`,
  },
  {
    fault: 'an outbox row with two numbers',
    remedy: NEW_EPOCH,
    text: `select outbox_id as id from event_numbers
      where first_number > ${EPOCH_START} and outbox_id is not null
      group by outbox_id having count(*) > 1`,
  },
  {
    // TRUNCATE leaves rows without a number: their ids are at or below the state that it adds. Rows at or below the
    // oldest stored state may be older than that.
    fault: 'an outbox row that got no number',
    remedy: NEW_EPOCH,
    text: `select outbox.id from outbox
      left join event_numbers as numbers on numbers.outbox_id = outbox.id
      cross join (
        select scanned_to, gaps from event_numbers order by first_number desc limit 1
      ) as state
      where numbers.first_number is null and outbox.id <= state.scanned_to and not outbox.id <@ state.gaps
        and outbox.id > (select min(scanned_to) from event_numbers)
        and outbox.id > coalesce((select max(scanned_to) from event_numbers where outbox_id is null), 0)
        and outbox.id > coalesce((select max(scanned_to) from event_numbers where first_number <= ${EPOCH_START}), 0)`,
  },
]

export const WEBHOOK_RULES: readonly Rule[] = [
  {
    fault: 'a webhook without a secret that does not expire',
    remedy: 'Run: petstore webhooks rotate-secret <id>',
    text: `select webhooks.id from webhooks
      left join webhook_secrets on webhook_secrets.webhook_id = webhooks.id and webhook_secrets.expires_at is null
      where webhook_secrets.id is null`,
  },
  {
    fault: 'a webhook whose position is after the newest event',
    remedy: NEW_EPOCH,
    text: `select id from webhooks
      where epoch = ${CURRENT_EPOCH} and number > ${NEWEST_NUMBER}`,
  },
  ...['webhook_secrets', 'webhook_retries', 'webhook_deliveries'].map((table) => ({
    fault: `a row of ${table} without its webhook`,
    remedy: RESTORE_ANOTHER,
    text: `select child.id from ${table} as child left join webhooks on webhooks.id = child.webhook_id
      where webhooks.id is null`,
  })),
]
