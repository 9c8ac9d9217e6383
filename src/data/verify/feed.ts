// The rules of the event feed and of webhooks. src/events/feed/faults.ts has the statements of the feed, and
// migrations/0008_webhooks.sql explains the tables of webhooks.
import { FEED_FAULTS } from '../../events/feed/faults.ts'
import { CURRENT_EPOCH, NEWEST_NUMBER } from '../../events/feed/queries.ts'
import { RESTORE_ANOTHER, type Rule } from './check.ts'

const NEW_EPOCH = 'Run: petstore events new-epoch'

export const FEED_RULES: readonly Rule[] = FEED_FAULTS.map(({ fault, text, isFixedByNewEpoch }) => ({
  fault,
  text,
  remedy: isFixedByNewEpoch ? NEW_EPOCH : RESTORE_ANOTHER,
}))

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
