// The check `webhooks`: whether a process delivers every enabled webhook, and which webhooks get events that their key may
// not have been allowed to read.
import type { Reader } from '../../db/database.ts'
import {
  type DoubtfulWebhook,
  findDoubtfulWebhooks,
  readWebhookAccess,
  readWebhookLeases,
  type WebhookLeases,
} from '../../events/webhooks/inspect.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding } from './finding.ts'

const CHECK = 'webhooks'

/** Finds nothing if the webhooks cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkWebhooks(db: Reader): Promise<Finding[]> {
  const { canReadWebhooks, canReadKeys } = await readWebhookAccess(db)
  if (!canReadWebhooks) return []
  const leases = await readWebhookLeases(db)
  const doubtful = canReadKeys ? await findDoubtfulWebhooks(db) : []
  return [describeLeases(leases), ...doubtful.map(describeDoubt)]
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

function describeDoubt({ id, apiKeys }: DoubtfulWebhook): Finding {
  return {
    check: CHECK,
    state: 'warning',
    message: `a key without the scope pets:read may have created or changed webhook ${id}: ${apiKeys.join(', ')}`,
    remedy: `If its receiver may read pets, confirm it with a key that has the scope: petstore webhooks update ${id} --receiver URL. Otherwise: petstore webhooks delete ${id}`,
  }
}
