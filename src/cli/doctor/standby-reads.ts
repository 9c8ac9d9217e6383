// The check `standby reads`: whether the standbys of DATABASE_READ_URL can serve reads.
import type { Config } from '../../config/config.ts'
import type { Reader } from '../../db/database.ts'
import { isWholeQuorum, readPosition } from '../../db/failover/position.ts'
import {
  canReadTerm,
  type NodeState,
  readNodes,
  readServer,
  type ServerState,
} from '../../db/inspect/nodes.ts'
import { countOf } from '../../values/count-text.ts'
import type { Finding } from './finding.ts'

const check = 'standby reads'
/** PostgreSQL can have flushed a part of a record, which no standby can replay yet. */
const BEHIND_MAX_BYTES = 65_536

/** What is said about a node or about all of them, and what to do if it is a problem. */
interface Remark {
  message: string
  remedy?: string
}

/** Finds nothing if the term cannot be read: the checks of the schema and of the privileges then say why. */
export async function checkStandbyReads(
  db: Reader,
  { DATABASE_READ_URL }: Config,
  applicationName: string,
): Promise<Finding[]> {
  if (DATABASE_READ_URL === undefined || !(await canReadTerm(db))) return []
  const position = await readPosition(db)
  const primary = await readServer(db, position)
  const nodes = await readNodes(DATABASE_READ_URL, applicationName, position)
  return [judgeNodes(primary, nodes, position.standbyNames)]
}

function judgeNodes(primary: ServerState, nodes: readonly NodeState[], standbyNames: string): Finding {
  const remarks = nodes.map((node) => remarkOn(node, primary))
  const lists = [...listRemarks(nodes, primary), quorumRemark(standbyNames, nodes.length - 1)]
  const isUsed = lists.every(({ remedy }) => remedy === undefined)
  const usable = nodes.filter(
    (node, index) => isStandby(node) && isUsed && remarks[index]?.remedy === undefined,
  )
  const message = [
    `${usable.length} of ${nodes.length - 1} standbys can serve reads`,
    nodes.map(({ host }, index) => `${host}: ${remarks[index]?.message}`).join(', '),
    ...lists.map((remark) => remark.message),
  ].join('; ')
  const remedies = new Set([...remarks, ...lists].flatMap(({ remedy }) => remedy ?? []))
  if (remedies.size === 0) return { check, state: 'ok', message }
  return { check, state: 'warning', message, remedy: [...remedies].join(' ') }
}

const isStandby = (node: NodeState) => node.failure === undefined && node.server.isStandby

function remarkOn(node: NodeState, primary: ServerState): Remark {
  if (node.failure !== undefined) {
    return {
      message: node.failure,
      remedy:
        'Start the nodes that cannot be reached. If a node rejects the connection, correct its pg_hba.conf, or the role and password in DATABASE_READ_URL.',
    }
  }
  if (node.isPooled) {
    return {
      message: 'behind PgBouncer, or another pooler',
      remedy: 'Set DATABASE_READ_URL to the hosts and ports of PostgreSQL itself.',
    }
  }
  return remarkOnServer(node.server, primary)
}

function remarkOnServer(server: ServerState, primary: ServerState): Remark {
  if (!server.isStandby) {
    if (server.incarnation === primary.incarnation) return { message: 'primary' }
    return {
      message: 'a primary, but not that of DATABASE_URL',
      remedy: 'List only the nodes of one cluster: DATABASE_URL and DATABASE_READ_URL differ.',
    }
  }
  const behind = server.bytesBehind > 0 ? `, ${countOf(server.bytesBehind, 'byte')} behind` : ''
  if (!server.isStreaming) {
    return {
      message: `standby${behind}, without a connection to the primary`,
      remedy: 'Check primary_conninfo and the log of the standby; with Patroni, run patronictl list.',
    }
  }
  if (server.bytesBehind > BEHIND_MAX_BYTES) {
    return {
      message: `standby${behind}`,
      remedy:
        'Until it has caught up, the primary serves its reads. Check its disk and CPU, and that replay is not paused: select pg_wal_replay_resume()',
    }
  }
  if (!server.hasTerm) {
    return {
      message: 'standby of another primary',
      remedy: 'Let it follow the primary of DATABASE_URL, or remove it from DATABASE_READ_URL.',
    }
  }
  return { message: `standby${behind}` }
}

/** Every node must be in the list once. */
function listRemarks(nodes: readonly NodeState[], primary: ServerState): Remark[] {
  const known = nodes.flatMap((node) => (node.failure === undefined ? [node] : []))
  const byServer = [...Map.groupBy(known, ({ server }) => server.startedAt).values()]
  const remarks = byServer
    .filter((hosts) => hosts.length > 1)
    .map((hosts) => ({
      message: `${hosts.map(({ host }) => host).join(' and ')} are one server`,
      remedy: 'List each node once in DATABASE_READ_URL, without a load balancer.',
    }))
  if (known.length === nodes.length && !known.some(({ server }) => server.startedAt === primary.startedAt)) {
    remarks.push({
      message: 'the primary is not in the list',
      remedy: 'List every node in DATABASE_READ_URL, the primary too.',
    })
  }
  return remarks
}

function quorumRemark(standbyNames: string, standbys: number): Remark {
  const message = `synchronous_standby_names = '${standbyNames}'`
  if (isWholeQuorum(standbyNames, standbys)) return { message }
  return {
    message: `${message}, which is not a quorum of ${countOf(standbys, 'standby')}`,
    remedy:
      'With Patroni, set synchronous_mode: quorum, and list every node in DATABASE_READ_URL; Patroni names a standby while it is connected. Without Patroni, set synchronous_standby_names to ANY 1 (…) with the application_name of every standby.',
  }
}
