// Names and limits of API keys. Without the schemas, so that commands start without loading the schema library.
import { SERVICE_NAME } from '../../contract/actor.ts'

export const SERVICE_NAME_FAULT = `name must not be "${SERVICE_NAME}", which stands for the service itself. Create a key with another name.`

export const NAME_LENGTH_MAX = 100
export const LIFETIME_SECONDS_MAX = 10 * 365 * 86_400
/** How long a rotated key stays valid if the request has no `overlapSeconds`. */
export const OVERLAP_SECONDS_DEFAULT = 86_400
export const RATE_LIMIT_MAX = 1_000_000
