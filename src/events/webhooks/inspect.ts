// What `petstore doctor` and the health report read about webhooks: whether running processes deliver them, and whether their
// receivers work. `petstore doctor` also runs before the migrations.
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
  /** Webhooks that fail, or that the service has stopped. */
  failing: number
  all: number
}

export async function readWebhookLeases(db: Reader): Promise<WebhookLeases> {
  const [leases] = await db.read<WebhookLeases>({
    name: 'read_webhook_leases',
    bounded: 'by a small table',
    text: `select (count(*) filter (where disabled_reason is null))::int as enabled,
        (count(*) filter (where disabled_reason is null and leased_until > now()))::int as leased,
        (count(*) filter (where disabled_reason in ('failing', 'gone')
          or disabled_reason is null and failing_since is not null))::int as failing,
        count(*)::int as all
      from webhooks`,
    values: [],
  })
  return leases as WebhookLeases
}
