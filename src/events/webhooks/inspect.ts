// What `petstore doctor` reads about webhooks: whether running processes deliver them. It also runs before the migrations.
import type { Reader } from '../../db/database.ts'

/** A table that does not exist yet cannot be read. */
export async function canReadWebhooks(db: Reader): Promise<boolean> {
  const [access] = await db.read<{ canRead: boolean }>({
    name: 'can_read_webhooks',
    bounded: 'without a table',
    text: `select coalesce(has_table_privilege(to_regclass('webhooks'), 'select'), false) as "canRead"`,
    values: [],
  })
  return access?.canRead === true
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
