// What a deprecated operation says on every answer, and what it answers once it is removed.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError } from '../errors.ts'
import { parseId } from '../int64.ts'
import type { Caller } from '../caller.ts'
import { GET_PET_PAGE } from '../http/page-addresses.ts'

export interface DeprecationServices {
  /** The origin that clients see, or nothing: addresses then start at `/`. */
  publicUrl: string
  /** The time by which a removed operation is judged. */
  clock: () => Date
  usage: { noteDeprecatedCall: (caller: Caller, operation: string) => void }
}

/** The day of version 1.0.0, in which the operation was deprecated from the start. */
const DEPRECATED_SINCE = new Date('2026-11-15T00:00:00Z')
export const GET_PET_REMOVAL = new Date('2030-12-05T00:00:00Z')

/** The address of a pet for `Location`: getPet until its removal, then the list of its id. */
export function petAddress({ publicUrl, clock }: Omit<DeprecationServices, 'usage'>, id: bigint): string {
  return clock() >= GET_PET_REMOVAL ? `${publicUrl}/v1/pets?id=${id}` : `${publicUrl}/v1/pets/${id}`
}

/** Runs before anything about the request is judged, so that 200, 404 and 410 all carry the same words. */
export function deprecateGetPet({ publicUrl, clock, usage }: DeprecationServices) {
  const deprecation = `@${DEPRECATED_SINCE.getTime() / 1000}`
  const sunset = GET_PET_REMOVAL.toUTCString()
  const page = `<${publicUrl}${GET_PET_PAGE}>; rel="deprecation"; type="text/html"`

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    // Only digits may enter a header; whatever else stood in the path stays out of it.
    const id = parseId((request.params as { petId: string }).petId)
    const successor = id === undefined ? `${publicUrl}/v1/pets` : `${publicUrl}/v1/pets?id=${id}`
    reply.headers({ deprecation, sunset, link: `<${successor}>; rel="successor-version", ${page}` })
    if (request.caller !== null) usage.noteDeprecatedCall(request.caller, 'getPet')
    done(clock() >= GET_PET_REMOVAL ? new AppError('operation_removed') : undefined)
  }
}
