// SQL statements on what timers of the operator report, and on the database itself.
import type { Reader, Writer } from '../../db/database.ts'
import type { ReportName } from './rules.ts'

export interface NewReport {
  name: ReportName
  /** When the backup was made, or when the certificate expires. */
  at: Date | null
  usedBytes: bigint | null
  totalBytes: bigint | null
  note: string | null
}

export type Report = NewReport & { reportedAt: Date }

/** Replaces the former report with this name. */
export async function upsertHealthReport(db: Writer, report: NewReport): Promise<void> {
  await db.write({
    name: 'upsert_health_report',
    bounded: 'by the given rows',
    text: `insert into health_reports (name, at, used_bytes, total_bytes, note)
      values ($1, $2, $3, $4, $5)
      on conflict (name) do update
      set at = excluded.at, used_bytes = excluded.used_bytes, total_bytes = excluded.total_bytes,
        note = excluded.note, reported_at = now()`,
    values: [report.name, report.at, report.usedBytes, report.totalBytes, report.note],
    isIdempotent: true,
  })
}

export async function listHealthReports(db: Reader): Promise<Report[]> {
  return db.read<Report>({
    name: 'list_health_reports',
    bounded: 'by a small table',
    text: `select name, at, used_bytes as "usedBytes", total_bytes as "totalBytes", note,
        reported_at as "reportedAt"
      from health_reports`,
    values: [],
  })
}

export interface DatabaseFacts {
  /** The clock of the database, which also wrote the times that are compared with it. */
  now: Date
  version: string
  sizeBytes: bigint
}

export async function readDatabaseFacts(db: Reader): Promise<DatabaseFacts> {
  const [facts] = await db.read<DatabaseFacts>({
    name: 'read_database_facts',
    bounded: 'without a table',
    // Debian adds its own version: 15.14 (Debian 15.14-0+deb12u1).
    text: `select now() as now, split_part(current_setting('server_version'), ' ', 1) as version,
        pg_database_size(current_database()) as "sizeBytes"`,
    values: [],
  })
  if (facts === undefined) throw new Error('PostgreSQL returned no facts about the database')
  return facts
}
