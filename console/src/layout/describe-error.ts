// Explains an error to a person who does not know the API.
import { PetstoreError } from '@petstore/client'

export interface ErrorText {
  title: string
  text: string
  requestId: string | undefined
}

const TEXTS: Record<string, { title: string; text: string }> = {
  network_error: {
    title: 'No connection',
    text: 'Cannot reach the shop’s server. Check your network and try again.',
  },
  timeout: { title: 'No response', text: 'The server did not respond in time. Try again.' },
  // That of a proxy, while no instance of the service responds.
  unexpected_answer: {
    title: 'The server does not work at the moment',
    text: 'Wait a moment and try again. If it goes on, call the person who runs the server.',
  },
  overloaded: { title: 'The server is busy', text: 'Wait a moment and try again.' },
  unavailable: {
    title: 'The server is busy',
    text: 'The database is not available. Wait a moment and try again.',
  },
  outcome_unknown: {
    title: 'Not sure whether it worked',
    text: 'The connection was lost before the server confirmed the change. Check whether it was made before you try again.',
  },
  rate_limited: { title: 'Too many requests', text: 'Wait a moment and try again.' },
  insufficient_scope: {
    title: 'Not allowed',
    text: 'Your key does not allow this. Ask your administrator for a key with more permissions.',
  },
  currency_mismatch: {
    title: 'Another currency',
    text: 'The shop has another currency than this price. Enter the price again.',
  },
  money_open: {
    title: 'Money is open',
    text: 'The currency and the time zone cannot change while the shop has holds, deposits or days that are not closed.',
  },
  pet_not_found: { title: 'No such pet', text: 'This pet does not exist, or was deleted.' },
  pet_not_available: { title: 'Not available any more', text: 'This pet is on hold or sold.' },
  pet_on_hold: {
    title: 'On hold',
    text: 'This pet is held for a customer, so its status cannot be changed. If the hold is yours to end, choose Sell or Release.',
  },
  pet_has_orders: {
    title: 'Cannot be deleted',
    text: 'This pet was held or sold before, so it stays in the books. Change it instead.',
  },
  order_closed: { title: 'The hold has ended', text: 'It was completed, cancelled, or its time ran out.' },
  precondition_failed: {
    title: 'Changed by another person',
    text: 'Another person changed this pet after you opened it. Check the new values, then save again.',
  },
  invalid_transition: {
    title: 'Not possible',
    text: 'A sold pet cannot be put on hold. Make it available first.',
  },
  order_not_sold: { title: 'Not sold any more', text: 'The pet was taken back, or its sale was undone.' },
  amount_too_high: { title: 'Too much', text: 'The amount is higher than what is left to give back.' },
  entry_not_found: { title: 'No such entry', text: 'The till does not have this entry.' },
  entry_final: {
    title: 'Too late to undo',
    text: 'Only the last entry of an order can be undone, within 15 minutes and before its day is closed. Choose Correct price or Take back instead.',
  },
  webhook_not_found: { title: 'No such webhook', text: 'Another person has deleted this webhook.' },
  webhook_disabled: { title: 'Paused', text: 'This webhook gets no messages. Resume it first.' },
  webhook_busy: {
    title: 'Too many messages wait',
    text: 'The receiver has not got the messages that you sent before. Wait until they are delivered.',
  },
  delivery_not_found: { title: 'No longer stored', text: 'The service no longer stores this message.' },
  too_many_webhooks: {
    title: 'Too many webhooks',
    text: 'The store has as many webhooks as the operator allows. Delete one that is not needed.',
  },
}

/** An error whose text already says what happened and what to do. */
export class ExplainedError extends Error {
  readonly title: string

  constructor(title: string, text: string) {
    super(text)
    this.title = title
  }
}

/** The pet is not in the state that an action needs. The text says who has it, or what has happened. */
export class ConflictError extends ExplainedError {}

export function describeError(error: Error): ErrorText {
  if (error instanceof ExplainedError)
    return { title: error.title, text: error.message, requestId: undefined }
  if (!(error instanceof PetstoreError)) {
    return { title: 'Something went wrong', text: error.message, requestId: undefined }
  }
  const known = TEXTS[error.outcomeUnknown ? 'outcome_unknown' : error.code]
  return { title: 'Something went wrong', text: error.message, ...known, requestId: error.requestId }
}

/** True if the service has this error code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof PetstoreError && error.code === code
}
