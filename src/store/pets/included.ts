// The words of the parameter `include`: what listPets, getPet and exportPets add to each pet when asked. Parameters, statements,
// responses, columns of exports, options of commands and docs follow from this table.
import { type Static, type TSchema, Type } from 'typebox'
import { PROFILE_FIELD_NAMES } from '../../contract/profile-fields.ts'
import { INT64_MAX } from '../../values/int64.ts'
import { PROFILE_JSON } from '../profiles/queries.ts'
import { ProfileSchema } from '../profiles/schema.ts'
import { refTo } from '../../contract/named-schema.ts'

interface Included {
  /** Completes "adds". */
  text: string
  /** The fields of a pet. */
  fields: Record<string, TSchema>
  /**
   * These fields as JSON text in SQL: it starts with a comma. `pet` is a row of the table `pets`. It reads rows of other tables
   * only by an index. No object in it starts with an `id`, with which each pet of a page starts.
   */
  json: (pet: string) => string
  /** The columns of an export. Those of an object are its fields. */
  columns: readonly string[]
}

const time = (text: string) =>
  Type.Optional(Type.Unsafe<string>({ type: 'string', format: 'date-time', description: text }))

const timeJson = (value: string) => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const INCLUDED = {
  profile: {
    text: 'the price of each pet and the facts about it, as `profile`',
    fields: { profile: Type.Optional(refTo(ProfileSchema)) },
    json: (pet) =>
      `concat(',"profile":', coalesce((select ${PROFILE_JSON} from pet_profiles where pet_id = ${pet}.id), '{}'))`,
    columns: PROFILE_FIELD_NAMES,
  },
  times: {
    text: '`createdAt` and `updatedAt`',
    fields: {
      createdAt: time('When the pet was created. Only with `include=times`.'),
      updatedAt: time('When the pet or its profile last changed. Only with `include=times`.'),
    },
    // Each change adds an entry to the history. The row comparisons make this one row of an index, as in queries.ts.
    json: (pet) =>
      `concat(',"createdAt":"', ${timeJson(`${pet}.created_at`)}, '","updatedAt":"', ${timeJson(
        `coalesce((
          select at from pet_history
          where (pet_id, id) <= (${pet}.id, ${INT64_MAX}) and (pet_id, id) >= (${pet}.id, 0)
          order by pet_id desc, id desc limit 1
        ), ${pet}.created_at)`,
      )}, '"')`,
    columns: ['createdAt', 'updatedAt'],
  },
} satisfies Record<string, Included>

export type IncludeWord = keyof typeof INCLUDED
export const INCLUDE_WORDS = Object.keys(INCLUDED) as IncludeWord[]
const ENTRIES: Included[] = Object.values(INCLUDED)

type Fields = { [Word in IncludeWord]: (typeof INCLUDED)[Word]['fields'] }[IncludeWord]
type AllFields = {
  [Name in Fields extends infer One ? keyof One : never]: Fields extends infer One
    ? Name extends keyof One
      ? One[Name]
      : never
    : never
}

/** The fields that the words add to the schema of a pet. */
export const INCLUDED_FIELDS = Object.assign({}, ...ENTRIES.map(({ fields }) => fields)) as AllFields

/** Which words a request has, as a number for SQL: each word is one bit. */
export type Include = number

export function includeOf(words: readonly IncludeWord[] = []): Include {
  return words.reduce((bits, word) => bits | (1 << INCLUDE_WORDS.indexOf(word)), 0)
}

/** The JSON text of the included fields in SQL, as arguments of `concat`. */
export function includedJson(pet: string, include: string): string {
  return ENTRIES.map(
    ({ json }, index) => `, case when ${include} & ${1 << index} <> 0 then ${json(pet)} end`,
  ).join('')
}

/** The columns of an export with these words. */
export function includedColumns(words: readonly IncludeWord[]): string[] {
  return INCLUDE_WORDS.filter((word) => words.includes(word)).flatMap((word) => INCLUDED[word].columns)
}

const list = ENTRIES.map(({ text }, index) => `\`${INCLUDE_WORDS[index]}\` adds ${text}`).join('; ')

export const IncludeParameter = Type.Optional(
  Type.Array(Type.Unsafe<IncludeWord>({ type: 'string', enum: INCLUDE_WORDS }), {
    maxItems: INCLUDE_WORDS.length,
    uniqueItems: true,
    // Separated by commas, in one parameter.
    explode: false,
    description: `What to add to each pet, separated by commas: ${list}.`,
  }),
)
export type IncludeQuery = Static<typeof IncludeParameter>
