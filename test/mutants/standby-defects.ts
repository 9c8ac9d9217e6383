// Defects in reads from standbys. Most of them would return stale rows, go back in time, or show what a failover loses.
import type { Defect } from './defect.ts'

const READS = 'test/slow/standby-reads.test.ts'
const FAILOVER = 'test/slow/standby-failover.test.ts'
const PROTOCOL = 'src/db/failover/standby-reads.ts'
const COMPOSITION = 'test/db/standby-reads.process.test.ts'
const HISTORIES = 'test/proof/model/standby-histories.test.ts'
const QUORUM = 'test/db/position.test.ts'
const FENCE = 'src/db/failover/fence.ts'

export const STANDBY_DEFECTS: readonly Defect[] = [
  {
    name: 'a standby is read with a snapshot that is older than the comparison of its position',
    file: PROTOCOL,
    find: '  await waitForReplay(client, position, limits.replayMs)',
    replace: `  await client.query('rollback; begin isolation level repeatable read')
  await waitForReplay(client, position, limits.replayMs)`,
    test: READS,
    title: 'a read waits until the standby has replayed its position',
  },
  {
    name: 'the position that a standby has received counts as replayed',
    file: PROTOCOL,
    find: 'pg_last_wal_replay_lsn() >= $2::pg_lsn',
    replace: 'pg_last_wal_receive_lsn() >= $2::pg_lsn',
    test: READS,
    title: 'received but not replayed',
  },
  {
    name: 'a standby of another primary is read',
    file: PROTOCOL,
    find: 'term = $1 and pg_last_wal_replay_lsn()',
    replace: '$1::text is not null and pg_last_wal_replay_lsn()',
    test: FAILOVER,
    title: 'a standby that followed the lost primary further',
  },
  {
    name: 'the primary is read instead of a standby without a fence',
    file: PROTOCOL,
    find: '    await fence()\n',
    replace: '',
    test: READS,
    title: 'is not missing from a list of the primary',
  },
  {
    name: 'one long transaction makes a standby read without a fence',
    file: FENCE,
    find: 'let left = running.difference(ignored)',
    replace: 'let left: ReadonlySet<string> = ignored.size > 0 ? new Set() : running',
    test: READS,
    title: 'beside a transaction that outlived an earlier fence',
  },
  {
    name: 'a standby shows the commit of a long transaction that no fence waits for',
    file: FENCE,
    find: 'if (ignored.size > 0) ignored =',
    replace: 'if (ignored.size < 0) ignored =',
    test: READS,
    title: 'outlived an earlier fence before it committed',
  },
  {
    name: 'a standby is read at a position that was asked for before the request',
    file: PROTOCOL,
    find: '  return () => positions()',
    replace: `  let inFlight: Promise<Position> | undefined
  return () => {
    inFlight ??= positions().finally(() => {
      inFlight = undefined
    })
    return inFlight
  }`,
    test: READS,
    title: 'waits for the next position',
  },
  {
    name: 'the position of one standby is compared, and another one is read',
    file: PROTOCOL,
    find: '  const rows = await runQuery<Row>(client, statement, { timeoutMs, observer: queryObserver }, trace)',
    replace: `  const other = await standbys.connect()
  const rows = await runQuery<Row>(other?.client ?? client, statement, { timeoutMs, observer: queryObserver }, trace)
  other?.release()`,
    test: READS,
    title: 'served by the standby that has replayed its position',
  },
  {
    name: 'a standby outside of the quorum is read',
    file: PROTOCOL,
    find: `  if (!isWholeQuorum(position.standbyNames, standbys.count)) throw new CannotRead('quorum')\n`,
    replace: '',
    test: READS,
    title: 'not every standby is part of the quorum',
  },
  {
    name: 'a primary that is demoted after its position was asked for is read as a standby',
    file: PROTOCOL,
    find: '  const connection = await standbys.connect()\n',
    replace: `  const asked = await parts.askPosition()
  const connection = await standbys.connect()
  parts = { ...parts, askPosition: async () => asked }
`,
    test: FAILOVER,
    title: 'nor a demoted primary',
  },
  {
    name: 'a promoted standby counts as a standby',
    file: PROTOCOL,
    find: 'text: `select pg_is_in_recovery() as "isStandby",',
    replace: 'text: `select true as "isStandby",',
    test: FAILOVER,
    title: 'nor a demoted primary',
  },
  {
    name: 'a write does not find the pet that a standby shows',
    file: 'src/db/failover/retry-not-found.ts',
    find: '        await fence()\n',
    replace: '',
    test: READS,
    title: 'finds a pet that a standby shows',
  },
  {
    name: 'a standby waits for the rest of a record at the end of a page',
    file: 'src/db/failover/position.ts',
    find: '% WAL_PAGE_BYTES === 0n',
    replace: '% WAL_PAGE_BYTES === 1n',
    test: READS,
    title: 'at the end of a page of the WAL',
  },
  {
    name: 'a late result of a standby is returned',
    file: PROTOCOL,
    find: 'if (performance.now() - askedAt > limits.resultMs)',
    replace: 'if (performance.now() < askedAt)',
    test: READS,
    title: 'the result arrives too late',
  },
  {
    name: 'the error of a standby is returned to the client',
    file: PROTOCOL,
    find: 'if (reason === undefined) throw error',
    replace: 'if (reason !== undefined) throw error',
    test: READS,
    title: 'the statement is cancelled',
  },
  {
    name: 'a standby that failed once is not read again',
    file: 'src/db/failover/standbys.ts',
    find: '    onHostFailure?.(host, error as Error)\n    void askUntilUsable()\n',
    replace: '    onHostFailure?.(host, error as Error)\n',
    test: READS,
    title: 'the connection is lost',
  },
  {
    name: 'a second process trusts the primary without a commit that a standby confirms',
    file: 'src/db/failover/server-trust.ts',
    find: '    where term <> incarnation\n  )\n  select ${BARRIER}`',
    replace: '    where term <> incarnation returning true\n  )\n  select ${BARRIER} from recorded`',
    test: READS,
    title: 'no reason to trust a primary',
  },
  {
    name: 'the standbys do not get the term of a new incarnation',
    file: 'src/db/failover/server-trust.ts',
    find: 'where term <> incarnation',
    replace: `where term = 'none'`,
    test: READS,
    title: 'changes with the incarnation',
  },
  {
    name: 'the term is recorded without reads from standbys',
    file: 'src/server/process.ts',
    find: 'recordsTerm: config.DATABASE_READ_URL !== undefined',
    replace: 'recordsTerm: true',
    test: COMPOSITION,
    title: 'without DATABASE_READ_URL',
  },
  {
    name: 'counts go back in time after reads from standbys',
    file: 'src/server/store.ts',
    find: 'readers: { rows, counts: fenced }',
    replace: 'readers: { rows, counts: db }',
    test: COMPOSITION,
    title: 'with DATABASE_READ_URL',
  },
  {
    name: 'the writes of a process do not find what a standby shows',
    file: 'src/server/store.ts',
    find: 'db: retryNotFound(db, fence)',
    replace: 'db',
    test: COMPOSITION,
    title: 'with DATABASE_READ_URL',
  },
  {
    name: 'a standby with a lower priority counts as part of the quorum',
    file: 'src/db/failover/position.ts',
    find: `method.toLowerCase() === 'any' ||`,
    replace: `method !== '' ||`,
    test: QUORUM,
  },
  {
    name: 'a quorum of other standbys is enough',
    file: 'src/db/failover/position.ts',
    find: 'new Set(names).size !== standbys',
    replace: 'new Set(names).size < 1',
    test: QUORUM,
  },
  {
    name: 'a standby is read although it may not have replayed the position',
    file: PROTOCOL,
    find: '  await waitForReplay(client, position, limits.replayMs)\n',
    replace: '',
    test: HISTORIES,
  },
]
