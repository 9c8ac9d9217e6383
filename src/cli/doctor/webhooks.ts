// The check `webhooks`: whether a process delivers every enabled webhook.
import type { Reader } from '../../db/database.ts'
import { canReadWebhooks, readWebhookLeases, type WebhookLeases } from '../../events/webhooks/inspect.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding } from './finding.ts'

const CHECK = 'webhooks'

/** Finds nothing if the webhooks cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkWebhooks(db: Reader): Promise<Finding[]> {
  return (await canReadWebhooks(db)) ? [describeLeases(await readWebhookLeases(db))] : []
}

function describeLeases({ enabled, leased }: WebhookLeases): Finding {
  if (enabled === 0) return { check: CHECK, state: 'ok', message: 'no webhook is enabled' }
  if (leased < enabled) {
    return {
      check: CHECK,
      state: 'warning',
      message: `no process delivers ${enabled - leased} of ${countOf(enabled, 'enabled webhook')}`,
      remedy: 'Start petstore deliver. If it is running, read its log.',
    }
  }
  return {
    check: CHECK,
    state: 'ok',
    message: `${countOf(enabled, 'enabled webhook')}, all with a process that delivers`,
  }
}
