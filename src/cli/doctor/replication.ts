// The check `replication`: whether a failover, or a crash of the server, can lose writes that the service acknowledged.
import type { Reader } from '../../db/database.ts'
import { readReplication, type ReplicationState, requiredStandbys } from '../../db/inspect/replication.ts'
import { countOf } from '../../values/count-text.ts'
import { runbookStep } from './alert-limits.ts'
import type { Finding } from './finding.ts'

const check = 'replication'

export async function checkReplication(db: Reader): Promise<Finding> {
  return judgeReplication(await readReplication(db))
}

export function judgeReplication(state: ReplicationState): Finding {
  const { synchronousCommit, synchronousStandbyNames, connected } = state
  const required = requiredStandbys(synchronousStandbyNames)
  if (synchronousCommit === 'off' || (synchronousCommit === 'local' && required > 0)) {
    const event = synchronousCommit === 'off' ? 'crash' : 'failover'
    return {
      check,
      // With synchronous standbys, the operator expects that a failover loses nothing.
      state: required > 0 ? 'fault' : 'warning',
      message: `synchronous_commit is ${synchronousCommit} for ${sessionOf(state)}: a ${event} can lose acknowledged writes`,
      remedy: turnOn(state),
    }
  }
  if (required > 0) return judgeSynchronous(state, required)
  if (connected > 0) {
    return {
      check,
      state: 'warning',
      message: `commits do not wait for the ${countOf(connected, 'connected standby')}: a failover can lose acknowledged writes`,
      remedy:
        'With Patroni, set synchronous_mode: quorum and synchronous_mode_strict: true. Without Patroni, set synchronous_standby_names.',
    }
  }
  return {
    check,
    state: 'ok',
    message: 'no standby: if the server is lost, all writes since the last backup are lost',
  }
}

function judgeSynchronous(state: ReplicationState, required: number): Finding {
  const { role, synchronousCommit, synchronousStandbyNames, connected, synchronous } = state
  const waits = `commits wait for ${countOf(required, 'synchronous standby')} (synchronous_standby_names = '${synchronousStandbyNames}', synchronous_commit = ${synchronousCommit})`
  const standbys = countOf(connected, 'connected standby')
  if ((synchronous ?? connected) < required) {
    const seen = synchronous === undefined ? '' : `, of which ${synchronous} synchronous`
    return {
      check,
      state: 'fault',
      message: `${waits}, but there are ${standbys}${seen}: writes fail with 503`,
      remedy:
        'Start the standbys, and compare their application_name with synchronous_standby_names. Do not turn off synchronous replication.',
    }
  }
  if (connected <= required) {
    return {
      check,
      state: 'warning',
      message: `${waits}, and there ${connected === 1 ? 'is' : 'are'} ${standbys}: no spare, so writes stop if one more standby is lost`,
      remedy: runbookStep(
        'PetstoreReplicationNotProtecting',
        'Start the standby that is missing, or add one.',
      ),
    }
  }
  const seen =
    synchronous === undefined
      ? `the role ${role} cannot see how many are synchronous; as a superuser, run: select application_name, sync_state from pg_stat_replication`
      : `${synchronous} synchronous`
  return {
    check,
    state: 'ok',
    message: `${waits}, so a failover to one of these keeps acknowledged writes; ${standbys}, ${seen}`,
  }
}

function sessionOf({ role, setBy }: ReplicationState): string {
  return setBy.includes('user') ? `the role ${role}` : 'the connections of the service'
}

/** The remedy depends on where the value is set: `source` of pg_settings. */
function turnOn({ role, database, setBy }: ReplicationState): string {
  switch (setBy) {
    case 'user':
      return `Run: alter role ${role} reset synchronous_commit`
    case 'database':
      return `Run: alter database ${database} reset synchronous_commit`
    case 'database user':
      return `Run: alter role ${role} in database ${database} reset synchronous_commit`
    case 'client':
      return 'Remove synchronous_commit from the options in DATABASE_URL.'
    default:
      return 'Set synchronous_commit = on in the configuration of PostgreSQL; with Patroni, under postgresql.parameters.'
  }
}
