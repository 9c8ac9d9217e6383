// JSON schema of the parameters of exportPets. The filters are those of listPets.
import { Type } from 'typebox'
import { IncludeParameter } from '../pets/included.ts'
import { FILTER_PARAMETERS, ListPetsQuery } from '../pets/schema.ts'
import { EXPORT_FORMATS, EXPORT_PETS_MAX, type ExportFormat } from './format.ts'

const { name, word, sort } = ListPetsQuery.properties

export const ExportPetsQuery = Type.Object({
  format: Type.Optional(
    Type.Unsafe<ExportFormat>({
      type: 'string',
      enum: EXPORT_FORMATS,
      default: 'csv',
      description: '`csv` (RFC 4180, with a header), or `ndjson` (one JSON object per line).',
    }),
  ),
  include: IncludeParameter,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EXPORT_PETS_MAX,
      default: EXPORT_PETS_MAX,
      description: 'Max number of pets to return. If you get as many, more pets can match.',
    }),
  ),
  ...FILTER_PARAMETERS,
  name: Type.Optional(
    Type.Unsafe<string>({
      ...name,
      description:
        'Return only pets whose name starts with this text, ignoring case, sorted by name. Cannot be combined with `categoryId`.',
    }),
  ),
  word: Type.Optional(
    Type.Unsafe<string>({
      ...word,
      description:
        'Return only pets whose name has a word that starts with this text, as in `listPets`. Cannot be combined with `name` or `sort`.',
    }),
  ),
  sort: Type.Optional(
    Type.Unsafe<'name'>({
      ...sort,
      'x-not-with': ['categoryId', 'word'],
      description:
        'Sort the pets by name, ignoring case, and then by id, instead of newest first. Cannot be combined with `categoryId` or `word`.',
    }),
  ),
})
