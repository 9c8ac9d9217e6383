// HTTP routes for profiles: what each operation accepts, returns and requires.
// Contains no SQL; the rules are in profiles.ts.
import type { Db } from '../../db/database.ts'
import { actorOf } from '../../http/authentication.ts'
import { etag, IfNoneMatchHeaders, ifMatch, ifMatchHeaders, NOT_MODIFIED } from '../../http/etag.ts'
import { response, type V1 } from '../../http/operation.ts'
import type { CurrentSettings } from '../settings/current-settings.ts'
import { getPetProfile, listPetProfiles, putPetProfile } from './profiles.ts'
import {
  ListPetProfilesQuery,
  NewPetProfileRef,
  PetProfileSchema,
  PetProfilesSchema,
  PROFILE_EXAMPLE,
  PROFILE_SCHEMAS,
  ProfileParams,
} from './schema.ts'

interface ProfileServices {
  db: Db
  settings: CurrentSettings
  clock: () => Date
}

const HEADERS = { ETag: 'Version of the profile, for `If-Match`: `"0"` before its first change.' }

function getPetProfileRoute(app: V1, { db }: ProfileServices): void {
  app.route({
    method: 'GET',
    url: '/pets/:petId/profile',
    config: { scope: 'pets:read', showsHolds: false, hasOwnEtag: true },
    schema: {
      operationId: 'getPetProfile',
      summary: 'Get the profile of a pet',
      description:
        'Returns the price of the pet and facts about it. Before the first change, the profile has no other field than `petId`.',
      tags: ['pets'],
      params: ProfileParams,
      headers: IfNoneMatchHeaders,
      response: {
        ...NOT_MODIFIED,
        200: response(PetProfileSchema, {
          description: 'The profile.',
          example: PROFILE_EXAMPLE,
          headers: HEADERS,
        }),
      },
    },
    handler: async (request, reply) => {
      const profile = await getPetProfile(db, request.params.petId)
      reply.header('etag', etag(profile.version))
      return profile
    },
  })
}

function putPetProfileRoute(app: V1, { db, settings, clock }: ProfileServices): void {
  app.route({
    method: 'PUT',
    url: '/pets/:petId/profile',
    config: {
      scope: 'pets:write',
      errors: ['currency_mismatch', 'reference_in_use'],
      retry: {
        rule: 'with If-Match',
        effect:
          'After a change by another client, or if the first attempt succeeded, a retry returns 412 `precondition_failed`. `GET /v1/pets/42/profile` returns the `ETag` of the profile.',
      },
    },
    schema: {
      operationId: 'putPetProfile',
      summary: 'Replace the profile of a pet',
      description:
        'Replaces all fields of the profile, and stores the changed ones in the history. The pet itself and its version do not change.',
      tags: ['pets'],
      params: ProfileParams,
      headers: ifMatchHeaders('profile'),
      body: NewPetProfileRef,
      response: {
        200: response(PetProfileSchema, {
          description: 'The new profile.',
          example: PROFILE_EXAMPLE,
          headers: HEADERS,
        }),
      },
    },
    handler: async (request, reply) => {
      const profile = await putPetProfile(db, request.params.petId, request.body, {
        actor: actorOf(request),
        isExpected: ifMatch(request.headers['if-match'], 'profile'),
        currency: await settings.currency(),
        now: clock(),
      })
      reply.header('etag', etag(profile.version))
      return profile
    },
  })
}

function listPetProfilesRoute(app: V1, { db }: ProfileServices): void {
  app.route({
    method: 'GET',
    url: '/pet-profiles',
    config: { scope: 'pets:read', showsHolds: false },
    schema: {
      operationId: 'listPetProfiles',
      summary: 'List profiles',
      description:
        'Returns the profiles of up to 100 pets, or those with a chip number, at most 100, the newest pet first. Pets whose profile was never changed are left out.',
      tags: ['pets'],
      querystring: ListPetProfilesQuery,
      response: {
        200: response(PetProfilesSchema, { description: 'The profiles.', example: [PROFILE_EXAMPLE] }),
      },
    },
    handler: (request) => listPetProfiles(db, request.query),
  })
}

export const PROFILES = {
  schemas: PROFILE_SCHEMAS,
  operations: [getPetProfileRoute, putPetProfileRoute, listPetProfilesRoute],
}
