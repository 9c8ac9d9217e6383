// The parameters of every list. Not in paging.ts, because loading the schema library takes half of the start of a command.
import { Type } from 'typebox'
import { LIST_LIMIT_MAX } from './paging.ts'

export const LimitParameter = (byDefault: number, more = '') =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIST_LIMIT_MAX,
      default: byDefault,
      description: `Max number of items to return.${more}`,
    }),
  )

export const CursorParameter = Type.Optional(
  Type.String({
    minLength: 1,
    description:
      'Returns the next page. Take it from the link `rel="next"` of the previous page, and send the same filters. There is no link to a previous page: pets that were added since would move to another page. Keep the links that you have followed, or start from `rel="first"`.',
  }),
)
