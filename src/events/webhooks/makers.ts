// Webhooks that a key without the necessary scopes may have created or changed, before the service required these scopes.
import type { Reader } from '../../db/database.ts'

export interface DoubtfulWebhook {
  id: bigint
  /** Names of the keys. */
  apiKeys: string[]
}

/**
 * Returns webhooks that no key has changed since the service requires `pets:read`, if a key without this scope was valid
 * since they were created. Returns none if the columns do not exist yet, or if the role cannot read API keys.
 */
export async function findDoubtfulWebhooks(db: Reader): Promise<DoubtfulWebhook[]> {
  return (await canReadWebhookKeys(db)) ? readDoubtfulWebhooks(db) : []
}

async function canReadWebhookKeys(db: Reader): Promise<boolean> {
  const [state] = await db.read<{ isReadable: boolean | null }>({
    name: 'can_read_webhook_keys',
    text: `select has_table_privilege(to_regclass('api_keys'), 'select')
        and has_column_privilege(attrelid, attnum, 'select') as "isReadable"
      from pg_attribute
      where attrelid = to_regclass('webhooks') and attname = 'api_key_id'`,
    values: [],
  })
  return state?.isReadable === true
}

async function readDoubtfulWebhooks(db: Reader): Promise<DoubtfulWebhook[]> {
  return db.read<DoubtfulWebhook>({
    name: 'read_doubtful_webhooks',
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
