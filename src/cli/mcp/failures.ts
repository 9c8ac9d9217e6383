// What an assistant reads if a tool fails: what is wrong, and what to do. Contains no text that a person typed.
import { PetstoreError } from '../../../client/src/petstore.ts'

/** A call that a tool rejects itself. Nothing was changed. */
export class ToolFailure extends Error {}

const LATER = 'Nothing was changed. Try again in a minute.'
const OPERATOR = 'Do not try again. Tell the person to ask the operator of the store.'

/** What to do, in terms of the tools. `fix` of src/contract/errors.ts is for programs that call the API. */
export const ADVICE: Readonly<Record<string, string>> = {
  pet_not_found:
    'Nothing was changed. Ask the person for the right number. The pet may have been deleted; find_pets finds others.',
  pet_not_available:
    'Nothing was changed. show_pet says whether the pet is on hold, until when, or sold. Tell the person; find_pets finds other pets.',
  pet_on_hold:
    'Nothing was changed. show_pet has the orderId and the note about the customer. Ask the person before you end the hold with sell_pet or release_pet.',
  invalid_transition: 'Nothing was changed. Set the status to available first, then to pending.',
  order_not_found: 'Check the orderId. list_holds and show_pet have it. A petId is no orderId.',
  order_closed: 'Do not try again. show_pet says how the order ended.',
  currency_mismatch:
    'Nothing was changed. The pet or the order has a price in another currency. Ask the person for the price in the currency of the store, and pass it as currency.',
  order_not_sold: 'Do not try again. show_pet says how the order ended, and whether the pet came back.',
  unknown_category: 'Nothing was changed. list_categories has the ids of the categories.',
  invalid_cursor: 'Call the tool again without cursor.',
  invalid_body: 'Nothing was changed. Correct these arguments.',
  invalid_parameter: 'Correct these arguments.',
  invalid_id: 'An id is a string of digits. Pass it exactly as a tool returned it.',
  precondition_failed:
    'Nothing was changed. Another person changed the pet at the same moment. Look at it with show_pet, and ask whether the change is still wanted.',
  missing_api_key: OPERATOR,
  invalid_api_key: `The key of this server was revoked, has expired, or is wrong. ${OPERATOR} The new key goes into PETSTORE_API_KEY of this server.`,
  insufficient_scope: `Nothing was changed. ${OPERATOR} The key of this server needs more scopes.`,
  rate_limited: LATER,
  unavailable: LATER,
  overloaded: LATER,
  request_timeout: LATER,
  network_error: `${LATER} If it fails again, tell the person that the store cannot be reached.`,
  timeout: `${LATER} If it fails again, tell the person that the store does not respond.`,
  unexpected_answer: `Another program than Petstore responded. ${OPERATOR} PETSTORE_URL of this server may be wrong.`,
  internal_error: `${OPERATOR} Give the request id to the operator.`,
}

const UNKNOWN_OUTCOME =
  'The change may have been made. Before you try again, check with show_pet or find_pets, and tell the person.'

export function explain(error: unknown): string {
  if (error instanceof ToolFailure) return error.message
  if (!(error instanceof PetstoreError)) {
    return `This tool has a bug: ${error instanceof Error ? error.message : String(error)}`
  }
  const { code, message, requestId, outcomeUnknown } = error
  const advice = outcomeUnknown ? UNKNOWN_OUTCOME : ADVICE[code]
  const request = requestId === undefined ? '' : `, request ${requestId}`
  return [message, advice, `(${code}${request})`].filter((part) => part !== undefined).join(' ')
}
