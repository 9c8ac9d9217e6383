// JSON schemas of the health report.
import { Type } from 'typebox'
import { refTo, type ResponseOf } from '../../contract/named-schema.ts'

/** In the order of the response. */
export const CHECK_NAMES = [
  'backup',
  'secondPlace',
  'restore',
  'archiving',
  'standby',
  'disk',
  'certificate',
  'events',
  'holds',
  'delivery',
  'webhooks',
  'apiKeys',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]

const CHECK_STATES = ['ok', 'attention', 'unknown'] as const
export type CheckState = (typeof CHECK_STATES)[number]

const time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description })
/** A plain integer is exact: no disk has 2^53 bytes. */
const bytes = (description: string) => Type.Unsafe<bigint>({ type: 'integer', minimum: 0, description })

const HealthCheckSchema = Type.Object(
  {
    name: Type.Unsafe<CheckName>({
      type: 'string',
      examples: CHECK_NAMES,
      description:
        'What was checked. `backup`, `secondPlace` (the copy of the backups at another place), `disk` and `certificate` are what `petstore report` last reported; the others are what the database shows: `delivery` whether a process delivers each webhook, `webhooks` whether their receivers work. New checks can be added.',
    }),
    state: Type.Unsafe<CheckState>({
      type: 'string',
      examples: CHECK_STATES,
      description:
        '`ok`; `attention`: a person has to do something; `unknown`: nothing was reported, or not lately.',
    }),
    at: Type.Optional(
      time(
        'The time that the check is about. `backup` and `secondPlace`: when the newest one was made. `restore`: when a backup was last restored and verified. `certificate`: when it expires. `apiKeys`: when the next key that a program uses expires. `archiving`, `events`, `holds`: since when they have been failing or late.',
      ),
    ),
    reportedAt: Type.Optional(time('When the value was reported. Only for values of `petstore report`.')),
    usedBytes: Type.Optional(bytes('How much of the disk is used.')),
    totalBytes: Type.Optional(bytes('The size of the disk.')),
    note: Type.Optional(
      Type.String({ description: 'What was reported with the value, or why the newest check failed.' }),
    ),
  },
  { $id: 'HealthCheck', description: 'One thing that a shop depends on, and whether it needs a person.' },
)
export type HealthCheck = ResponseOf<typeof HealthCheckSchema>

export const HealthReportSchema = Type.Object(
  {
    checkedAt: time('When the service read the values.'),
    version: Type.String({ description: 'The version of the service.' }),
    database: Type.Object({
      version: Type.String({ description: 'The version of PostgreSQL.' }),
      sizeBytes: bytes('The size of the database on the disk of its server.'),
    }),
    checks: Type.Array(refTo(HealthCheckSchema), {
      description:
        'A check is absent if it does not apply: `archiving` if PostgreSQL does not archive WAL, `standby` without a standby, `delivery` and `webhooks` without a webhook, `apiKeys` if no key of a program expires.',
    }),
  },
  { $id: 'HealthReport', description: 'What an administrator has to look at.' },
)
export type HealthReport = ResponseOf<typeof HealthReportSchema>

export const HEALTH_SCHEMAS = [HealthCheckSchema, HealthReportSchema]
