// What `petstore doctor` reads about webhooks: whether running processes deliver them, and which keys may have made them.
// It also runs with the role petstore_deliver, which cannot read all columns of API keys, and before the migrations.
import type { Reader } from '../../db/database.ts'

/** What the role can read. A table or column that does not exist yet cannot be read. */
export interface WebhookAccess {
  canReadWebhooks: boolean
  /** Whether the role can also read which key has changed a webhook last, and the scopes of the keys. */
  canReadKeys: boolean
}

export async function readWebhookAccess(db: Reader): Promise<WebhookAccess> {
  const [access] = await db.read<WebhookAccess>({
    name: 'read_webhook_access',
    bounded: 'without a table',
    text: `select coalesce(has_table_privilege(to_regclass('webhooks'), 'select'), false) as "canReadWebhooks",
        exists (
          select from pg_attribute
          where attrelid = to_regclass('webhooks') and attname = 'api_key_id'
            and has_column_privilege(attrelid, attnum, 'select')
            and has_table_privilege(to_regclass('api_keys'), 'select')
        ) as "canReadKeys"`,
    values: [],
  })
  return access as WebhookAccess
}

export interface WebhookLeases {
  enabled: number
  /** Enabled webhooks that a process delivers. */
  leased: number
}

export async function readWebhookLeases(db: Reader): Promise<WebhookLeases> {
  const [leases] = await db.read<WebhookLeases>({
    name: 'read_webhook_leases',
    bounded: 'by a small table',
    text: `select count(*)::int as enabled, (count(*) filter (where leased_until > now()))::int as leased
      from webhooks
      where disabled_reason is null`,
    values: [],
  })
  return leases as WebhookLeases
}

export interface DoubtfulWebhook {
  id: bigint
  /** Names of the keys. */
  apiKeys: string[]
}

/**
 * Returns webhooks that a key without the scope `pets:read` may have created or changed, before the service required
 * this scope: no key has changed them since, and such a key was valid after they were created.
 */
export async function findDoubtfulWebhooks(db: Reader): Promise<DoubtfulWebhook[]> {
  return db.read<DoubtfulWebhook>({
    name: 'find_doubtful_webhooks',
    bounded: 'by a small table',
    text: `select webhooks.id, array_agg(api_keys.name order by api_keys.id) as "apiKeys"
      from webhooks
      join api_keys on 'webhooks:write' = any(scopes) and 'pets:read' <> all(scopes)
        and coalesce(least(revoked_at, expires_at), 'infinity') > webhooks.created_at
        -- Events of orders have always required this scope.
        and ('orders:read' = any(scopes) or not exists (
          select from unnest(webhooks.types) as type where starts_with(type::text, 'order.')
        ))
      where webhooks.api_key_id is null
      group by webhooks.id
      order by webhooks.id`,
    values: [],
  })
}
