// Whether running processes deliver the webhooks, as far as the database shows. Both roles can read it.
import type { Reader } from '../../db/database.ts'

export interface WebhookLeases {
  enabled: number
  /** Enabled webhooks that a process delivers. */
  leased: number
}

/** Returns undefined if the table does not exist yet, or if the role cannot read it. */
export async function readWebhookLeases(db: Reader): Promise<WebhookLeases | undefined> {
  if (!(await canReadWebhooks(db))) return undefined
  const [leases] = await db.read<WebhookLeases>({
    name: 'read_webhook_leases',
    text: `select count(*)::int as enabled, (count(*) filter (where leased_until > now()))::int as leased
      from webhooks
      where disabled_reason is null`,
    values: [],
  })
  return leases
}

async function canReadWebhooks(db: Reader): Promise<boolean> {
  const [table] = await db.read<{ isReadable: boolean | null }>({
    name: 'can_read_webhooks',
    text: `select has_table_privilege(to_regclass('webhooks'), 'select') as "isReadable"`,
    values: [],
  })
  return table?.isReadable === true
}
