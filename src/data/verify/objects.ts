// The check `objects`: everything that migrations create exists and is in use. A restore that did not stop at errors can
// leave out an index or a constraint, and the service would not notice.
import { OWNED_OBJECTS } from '../../db/inspect/owners.ts'
import { countOf } from '../../values/count-text.ts'
import { applyRules, RESTORE_ANOTHER, type Finding, type Rule, type Snapshot } from './check.ts'

export const INDEXES = [
  'actors_pkey',
  'actors_subject_key',
  'api_keys_by_actor',
  'api_keys_hash_key',
  'api_keys_pkey',
  'categories_pkey',
  'day_closings_pkey',
  'deprecated_calls_pkey',
  'entries_by_day',
  'entries_by_pet',
  'entries_by_voided',
  'entries_of_cash',
  'entries_of_deposits',
  'entries_of_movements',
  'entries_one_sale_per_order',
  'entries_pkey',
  'event_epochs_epoch_key',
  'event_epochs_pkey',
  'event_numbers_by_type',
  'event_numbers_pkey',
  'finished_sign_ins_pkey',
  'health_reports_pkey',
  'idempotency_keys_by_age',
  'idempotency_keys_pkey',
  'imports_pkey',
  'orders_by_pet',
  'orders_by_pet_and_status',
  'orders_by_status',
  'orders_completed_by_closing',
  'orders_one_open_per_pet',
  'orders_open_by_expiry',
  'orders_pkey',
  'outbox_pkey',
  'pet_count_deltas_pkey',
  'pet_count_position_pkey',
  'pet_counts_by_category_pkey',
  'pet_counts_pkey',
  'pet_figures_pkey',
  'pet_figures_start_pkey',
  'pet_history_by_pet',
  'pet_history_pkey',
  'pet_profiles_by_chip_number',
  'pet_profiles_by_reference',
  'pet_profiles_pkey',
  'pets_by_category',
  'pets_by_category_and_status',
  'pets_by_status',
  'pets_by_status_and_name',
  'pets_by_word',
  'pets_pkey',
  'petstore_migrations_pkey',
  'restore_checks_pkey',
  'store_settings_pkey',
  'webhook_deliveries_pkey',
  'webhook_retries_by_number',
  'webhook_retries_by_webhook',
  'webhook_retries_pkey',
  'webhook_secrets_by_webhook',
  'webhook_secrets_pkey',
  'webhooks_pkey',
]

/** Check constraints and foreign keys. The indexes enforce the other ones. */
export const CONSTRAINTS = [
  'actors_check',
  'actors_kind_check',
  'actors_name_check',
  'actors_subject_check',
  'api_keys_actor_id_fkey',
  'api_keys_hash_check',
  'api_keys_rate_limit_check',
  'categories_id_check',
  'categories_name_check',
  'categories_picture_check',
  'day_closings_check',
  'day_closings_counted_check',
  'day_closings_currency_check',
  'day_closings_note_check',
  'deprecated_calls_api_key_id_fkey',
  'deprecated_calls_calls_check',
  'entries_amounts_check',
  'entries_cash_check',
  'entries_currency_check',
  'entries_note_check',
  'entries_order_check',
  'entries_order_id_fkey',
  'entries_reason_check',
  'entries_voids_check',
  'entries_voids_fkey',
  'finished_sign_ins_cookie_hash_check',
  'health_reports_check',
  'health_reports_check1',
  'health_reports_name_check',
  'health_reports_note_check',
  'orders_check',
  'orders_check1',
  'orders_note_check',
  'orders_pet_id_fkey',
  'orders_price_check',
  'pet_count_position_is_only_check',
  'pet_figures_start_is_only_check',
  'pet_history_pet_id_fkey',
  'pet_profiles_born_on_check',
  'pet_profiles_breed_check',
  'pet_profiles_check',
  'pet_profiles_chip_number_check',
  'pet_profiles_currency_check',
  'pet_profiles_description_check',
  'pet_profiles_pet_id_fkey',
  'pet_profiles_price_check',
  'pet_profiles_reference_check',
  'pet_profiles_sex_check',
  'pets_category_id_check',
  'pets_name_check',
  'restore_checks_backup_check',
  'restore_checks_message_check',
  'store_settings_address_check',
  'store_settings_currency_check',
  'store_settings_is_only_check',
  'store_settings_name_check',
  'store_settings_receipt_text_check',
  'store_settings_time_zone_check',
  'webhook_deliveries_outcome_check',
  'webhook_deliveries_webhook_id_fkey',
  'webhook_retries_check',
  'webhook_retries_kind_check',
  'webhook_retries_webhook_id_fkey',
  'webhook_secrets_secret_check',
  'webhook_secrets_webhook_id_fkey',
  'webhooks_check',
  'webhooks_disabled_reason_check',
  'webhooks_types_check',
  'webhooks_url_check',
]

export const TRIGGERS = [
  'check_completed',
  'check_completed_new',
  'check_entries',
  'check_returned',
  'close_day',
  'closings_are_final',
  'count_deleted',
  'count_numbered',
  'count_truncated',
  'count_updated',
  'entries_are_final',
  'record_changed',
  'record_created',
  'record_deleted',
  'record_entries',
  'record_inserted_profiles',
  'record_placed',
  'record_truncated',
  'record_updated',
  'record_updated_profiles',
]

const listOf = (names: readonly string[]) => names.map((name) => `('${name}')`).join(', ')

const RULES: readonly Rule[] = [
  {
    fault: 'a table, type, function, index, constraint or trigger that is missing',
    remedy: `Restore again with --single-transaction, which stops at the first error. If the restore succeeds, the original database may lack the same objects.`,
    text: `select name as id from (values ${listOf([...OWNED_OBJECTS, ...INDEXES])}) as expected (name)
      where to_regclass(name) is null and to_regtype(name) is null
        and not exists (
          select from pg_proc where proname = expected.name and pronamespace = current_schema()::regnamespace
        )
      union all
      select name from (values ${listOf(CONSTRAINTS)}) as expected (name)
      where not exists (
        select from pg_constraint where conname = expected.name and connamespace = current_schema()::regnamespace
      )
      union all
      select name from (values ${listOf(TRIGGERS)}) as expected (name)
      where not exists (
        select from pg_trigger join pg_class on pg_class.oid = tgrelid
        where tgname = expected.name and relnamespace = current_schema()::regnamespace
      )`,
  },
  {
    fault: 'an index that PostgreSQL does not use because its build failed',
    remedy: 'As petstore_migrator, run for each: reindex index concurrently <name>',
    text: `select relname as id from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = current_schema()::regnamespace and not (indisvalid and indisready and indislive)`,
  },
  {
    fault: 'a constraint that was never checked for the existing rows',
    remedy: 'As petstore_migrator, run for each: alter table <table> validate constraint <name>',
    text: `select conname as id from pg_constraint
      where connamespace = current_schema()::regnamespace and not convalidated`,
  },
  {
    // Also the internal triggers, which enforce foreign keys.
    fault: 'a table whose triggers are disabled',
    remedy: `As a superuser, run for each: alter table <table> enable trigger all. ${RESTORE_ANOTHER}`,
    text: `select distinct relname as id from pg_trigger join pg_class on pg_class.oid = tgrelid
      where relnamespace = current_schema()::regnamespace and tgenabled <> 'O'`,
  },
]

export function checkObjects(snapshot: Snapshot): Promise<Finding> {
  const total = OWNED_OBJECTS.length + INDEXES.length + CONSTRAINTS.length + TRIGGERS.length
  return applyRules(snapshot, RULES, `${countOf(total, 'object')} of the schema exist, all valid and enabled`)
}
