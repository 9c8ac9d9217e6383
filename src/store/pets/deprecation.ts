// The deprecation of getPet: adds headers to its responses, and rejects its requests with 410 after the removal.
// Contains no SQL and no rules for pets.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../../contract/caller.ts'
import { AppError } from '../../contract/errors.ts'
import { GET_PET_PAGE } from '../../http/page-addresses.ts'
import { parseId } from '../../values/int64.ts'

export interface DeprecationServices {
  /** Origin of the URLs in headers. If the origin is empty, the URLs start with `/`. */
  publicUrl: string
  /** Returns the current time, which decides whether getPet is already removed. */
  clock: () => Date
  usage: { noteDeprecatedCall: (caller: Caller, operation: string) => void }
}

/** Release day of version 1.0.0, which deprecated getPet. */
const DEPRECATED_SINCE = new Date('2026-11-15T00:00:00Z')
export const GET_PET_REMOVAL = new Date('2030-12-05T00:00:00Z')

/** When each deprecated operation will be removed. */
export const REMOVALS: Readonly<Record<string, Date>> = { getPet: GET_PET_REMOVAL }

/** Returns the URL of a pet for `Location`: that of getPet until its removal, then that of the list filtered by id. */
export function petAddress({ publicUrl, clock }: Omit<DeprecationServices, 'usage'>, id: bigint): string {
  return clock() >= GET_PET_REMOVAL ? `${publicUrl}/v1/pets?id=${id}` : `${publicUrl}/v1/pets/${id}`
}

/** Returns a hook that runs before validation, so that responses with 200, 404 and 410 have the same headers. */
export function deprecateGetPet({ publicUrl, clock, usage }: DeprecationServices) {
  const deprecation = `@${DEPRECATED_SINCE.getTime() / 1000}`
  const sunset = GET_PET_REMOVAL.toUTCString()
  const page = `<${publicUrl}${GET_PET_PAGE}>; rel="deprecation"; type="text/html"`

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    // Only a valid id is copied from the path into a header.
    const id = parseId((request.params as { petId: string }).petId)
    const successor = id === undefined ? `${publicUrl}/v1/pets` : `${publicUrl}/v1/pets?id=${id}`
    reply.headers({ deprecation, sunset, link: `<${successor}>; rel="successor-version", ${page}` })
    if (request.caller !== null) usage.noteDeprecatedCall(request.caller, 'getPet')
    done(clock() >= GET_PET_REMOVAL ? new AppError('operation_removed') : undefined)
  }
}
