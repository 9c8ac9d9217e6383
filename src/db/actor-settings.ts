// Tells the triggers of the event feed who makes a change.
import type { Actor } from '../contract/actor.ts'

/**
 * A SQL subquery that tells the triggers of the event feed who makes the change. Join it in the statement that changes
 * the row. The settings end with the transaction. The parameters start at `$first`.
 */
export function actorFrom(first: number): string {
  return `(
    select set_config('petstore.actor_id', $${first}, true), set_config('petstore.request_id', $${first + 1}, true)
  ) as actor`
}

/** The values of the parameters of `actorFrom`. */
export function actorValues({ actorId, requestId }: Actor): [actorId: string, requestId: string] {
  return [actorId === undefined ? '' : String(actorId), requestId]
}
