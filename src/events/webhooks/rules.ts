// Limits of webhooks. Without the schemas, so that commands start without loading the schema library.

export const URL_LENGTH_MAX = 2_048
export const DESCRIPTION_LENGTH_MAX = 200
/** How long a rotated secret stays in use if the request has no `overlapSeconds`. */
export const SECRET_OVERLAP_SECONDS_DEFAULT = 86_400
export const SECRET_OVERLAP_SECONDS_MAX = 30 * 86_400
/** Max secrets in use at once: the newest one and those that a rotation keeps. */
export const SECRETS_MAX = 3
/** Max test events and redeliveries that wait. */
export const REQUESTED_MAX = 100
/** Type of the message that `POST /v1/webhooks/{webhookId}/test` sends. */
export const TEST_TYPE = 'webhook.test'
/** The id of the message with an event is this prefix and the position of the event. */
export const EVENT_MESSAGE_PREFIX = 'evt_'
/** The id of a test event is this prefix and the id of its row in webhook_retries. */
export const TEST_MESSAGE_PREFIX = 'test_'
