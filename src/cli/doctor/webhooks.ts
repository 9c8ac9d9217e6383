// The check `webhooks`: whether a process delivers every enabled webhook.
import { countOf } from '../../counts.ts'
import type { Reader } from '../../db/database.ts'
import { readWebhookLeases } from '../../db/webhook-leases.ts'
import type { Finding } from './finding.ts'

/** Finds nothing if the webhooks cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkWebhooks(db: Reader): Promise<Finding[]> {
  const check = 'webhooks'
  const leases = await readWebhookLeases(db)
  if (leases === undefined) return []
  const { enabled, leased } = leases
  if (enabled === 0) return [{ check, state: 'ok', message: 'no webhook is enabled' }]
  if (leased < enabled) {
    return [
      {
        check,
        state: 'warning',
        message: `no process delivers ${enabled - leased} of ${countOf(enabled, 'enabled webhook')}`,
        remedy: 'Start petstore deliver. If it is running, read its log.',
      },
    ]
  }
  return [
    {
      check,
      state: 'ok',
      message: `${countOf(enabled, 'enabled webhook')}, all with a process that delivers`,
    },
  ]
}
