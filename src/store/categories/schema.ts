// JSON schemas of categories. The name of a category is optional.
import { Type } from 'typebox'
import { Int64 } from '../../contract/int64-schema.ts'
import { orNull, refTo } from '../../contract/named-schema.ts'
import { CursorParameter, LimitParameter } from '../../contract/paging-parameters.ts'
import { CountsSchema } from '../inventory/schema.ts'

const NAME_LENGTH_MAX = 100
export const LIST_LIMIT_DEFAULT = 100

const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: 'Name of the category. Must not be blank. The length is counted in code points.',
})

/** The drawings of the console. Its folder `drawings` has one for each. */
export const PICTURES = [
  'dog',
  'cat',
  'rabbit',
  'rodent',
  'bird',
  'fish',
  'reptile',
  'snake',
  'tortoise',
  'frog',
  'insect',
  'other',
] as const
export type Picture = (typeof PICTURES)[number]

const picture = Type.Unsafe<Picture>({
  type: 'string',
  enum: PICTURES,
  description: 'The drawing that the console shows for pets of the category.',
})

const CategoryNameSchema = Type.Object(
  {
    name,
    picture: Type.Optional(
      orNull({
        ...picture,
        description:
          'The drawing that the console shows for pets of the category. Absent, it stays unchanged; `null` removes it. Requires the scope `admin`.',
      }),
    ),
  },
  { $id: 'CategoryName', additionalProperties: false, examples: [{ name: 'Dogs', picture: 'dog' }] },
)
export const CategoryNameRef = refTo(CategoryNameSchema)

export const CategorySchema = Type.Object(
  {
    id: Int64,
    name: Type.Optional(name),
    picture: Type.Optional(picture),
    counts: refTo(CountsSchema),
  },
  {
    $id: 'Category',
    description: 'A category that has a name or at least one pet, with its pets counted by status.',
  },
)

export const CategoriesSchema = Type.Array(refTo(CategorySchema), {
  $id: 'Categories',
  description: 'Categories, sorted by id.',
})

export const CATEGORY_SCHEMAS = [CategoryNameSchema, CategorySchema, CategoriesSchema]

export const ListCategoriesQuery = Type.Object({
  limit: LimitParameter(LIST_LIMIT_DEFAULT),
  cursor: CursorParameter,
})

export const PutCategoryHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      description:
        'Send `*` to name the category only if it has no name. Otherwise the service returns 412 and changes nothing.',
    }),
  ),
})

export const CategoryParams = Type.Object(
  { categoryId: Type.Unsafe<bigint>({ ...Int64, description: 'The id of the category.' }) },
  { notFound: 'route_not_found' },
)
