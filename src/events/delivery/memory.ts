// The memory of one process for events and messages. Events differ in size by a factor of 20, so limits on their number
// do not limit the memory.
import { WINDOW_MAX_BYTES } from '../feed/window.ts'

const MIB = 1_048_576

/** Max bytes of all events, waiting messages and messages in flight. */
export const MEMORY_MAX_BYTES = 80 * MIB
const MESSAGES_MAX_BYTES = 32 * MIB
const SENDING_MAX_BYTES = 16 * MIB

/** A waiting message without its event, with its places in lanes and sets. */
export const MESSAGE_BYTES = 512
/** What an attempt in flight can take, until the size of its message is known. */
export const ATTEMPT_BYTES = 32_768

/** The parts of the budget. */
export interface MemoryLimits {
  /** Waiting messages. Those stored in webhook_retries are loaded at the start even if they take more. */
  messages: number
  /** The texts of messages in flight. */
  sending: number
  /** Events that were read ahead for waiting messages. */
  events: number
}

/** The window of newest events has its own limit, because streams have such a window too. */
export const MEMORY_LIMITS: MemoryLimits = {
  messages: MESSAGES_MAX_BYTES,
  sending: SENDING_MAX_BYTES,
  events: MEMORY_MAX_BYTES - MESSAGES_MAX_BYTES - SENDING_MAX_BYTES - WINDOW_MAX_BYTES,
}

/** How many messages one of the webhooks may have, so that one whose receiver is down leaves room for the others. */
export const messagesPerWebhook = ({ messages }: MemoryLimits, webhooks: number) =>
  Math.floor(messages / MESSAGE_BYTES / webhooks)
