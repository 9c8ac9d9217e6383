// Reads whether PostgreSQL can archive its WAL. Only reports; cli/doctor/archiving.ts and an alert judge.
import type { Reader } from '../database.ts'

export interface ArchivingState {
  /** False if `archive_mode` is off: nothing is archived then. */
  isOn: boolean
  /** If the newest attempt failed: the time since the last successful one, or since the statistics began. Otherwise null. */
  failingSeconds: number | null
}

export async function readArchiving(db: Reader): Promise<ArchivingState> {
  const [state] = await db.read<ArchivingState>({
    name: 'read_archiving',
    bounded: 'without a table',
    text: `select current_setting('archive_mode') <> 'off' as "isOn",
        case when last_failed_time > coalesce(last_archived_time, '-infinity')
          then extract(epoch from now() - coalesce(last_archived_time, stats_reset))::float8 end as "failingSeconds"
      from pg_stat_archiver`,
    values: [],
  })
  if (state === undefined) throw new Error('PostgreSQL returned no state of the archiver')
  return state
}

export function isArchivingFailing({ isOn, failingSeconds }: ArchivingState): boolean {
  return isOn && failingSeconds !== null
}
