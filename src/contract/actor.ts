// The actor of a change: which program or person made it, in which request. The history and the events of pets show it.

/** `program`: an operator created an API key for it. `person`: signed in with an identity provider. */
export const ACTOR_KINDS = ['program', 'person'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export interface Actor {
  /** The program or person that made the change; undefined if the service itself made it. */
  actorId: bigint | undefined
  /** The request that made the change. */
  requestId: string
}

/** The actor of a change that a caller requests. */
export type CallingActor = Actor & { actorId: bigint }

/** Shown as the actor of changes that the service itself makes, so no actor may have this name. */
export const SERVICE_NAME = 'petstore'

/** Whether a reader could mistake the name for SERVICE_NAME. Ignores case, blanks and invisible characters. */
export function isServiceName(name: string): boolean {
  const visible = name.normalize('NFKC').replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, '')
  return visible.toLowerCase() === SERVICE_NAME
}
