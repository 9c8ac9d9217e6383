// JSON schemas of the figures per day.
import { Type } from 'typebox'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'

export const DAYS_MAX = 90
export const DAYS_DEFAULT = 30
export const TIME_ZONE_DEFAULT = 'UTC'

/** A plain integer is exact: the numbers of pets and orders stay below 2^53. */
const count = (description: string) => Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description })

const DaySalesSchema = Type.Object(
  {
    orders: count(
      'Number of orders that were completed. A pet whose status was changed to `sold` without an order is not included.',
    ),
    withoutPrice: count('How many of these orders have no price.'),
    totals: Type.Array(
      Type.Object({
        currency: Type.String({ description: 'ISO 4217 code of the currency.' }),
        amount: Type.String({ description: 'The exact sum, with the decimal places of the currency.' }),
      }),
      { description: 'The sum of the prices in each currency. Empty if no order has a price.' },
    ),
  },
  { $id: 'DaySales', description: 'The completed orders of a day.' },
)

const DayFiguresSchema = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'The day in the time zone of the request.' }),
    added: count('Number of pets that were created, including those that were deleted later.'),
    sold: count(
      'How often the status of a pet changed to `sold`. A pet that was created as `sold` is not included.',
    ),
    sales: Type.Optional(refTo(DaySalesSchema)),
  },
  {
    $id: 'DayFigures',
    description:
      'How many pets were added and sold on a day. `sales` is absent if the API key lacks the scope `orders:read`.',
  },
)
export type DayFigures = ResponseOf<typeof DayFiguresSchema>

export const FiguresSchema = Type.Object(
  {
    timeZone: Type.String({ description: 'The time zone of the request.' }),
    countedSince: Type.Optional(
      Type.Unsafe<Date>({
        type: 'string',
        format: 'date-time',
        description:
          'The figures include no changes before this time. Absent if all days in the response are counted completely.',
      }),
    ),
    days: Type.Array(refTo(DayFiguresSchema), {
      maxItems: DAYS_MAX,
      description: 'One entry per day, oldest first. The last one is today. Days without changes have zeros.',
    }),
  },
  { $id: 'Figures', description: 'How many pets were added and sold on each of the last days.' },
)
export type Figures = ResponseOf<typeof FiguresSchema>

export const FIGURES_SCHEMAS = [DaySalesSchema, DayFiguresSchema, FiguresSchema]

export const GetFiguresQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DAYS_MAX,
      default: DAYS_DEFAULT,
      description: 'Number of days to return, including today.',
    }),
  ),
  timeZone: Type.Optional(
    Type.String({
      format: 'time-zone',
      default: TIME_ZONE_DEFAULT,
      description:
        'Time zone in which a day starts and ends: a name of the IANA database, such as `Europe/Berlin`.',
    }),
  ),
})
