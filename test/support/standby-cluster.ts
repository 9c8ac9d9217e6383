// A primary and two standbys on this host, which confirm the commits of the primary as a quorum.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Cluster, embeddedBinaries, freePort, startCluster } from '../../src/data/demo/cluster.ts'
import { sql } from './database.ts'
import { asSuperuser, prepareDatabase } from './roles.ts'
import { until } from './until.ts'

const binaries = process.env['TEST_POSTGRES'] ?? embeddedBinaries()

export interface StandbyNode {
  name: string
  folder: string
  port: number
  /** The URL of the database on this node, with the role of the service. */
  url: string
  server: Cluster
}

export interface StandbyCluster {
  primary: StandbyNode
  standbys: [StandbyNode, StandbyNode]
  /** A URL with all nodes, the primary first. */
  nodesUrl: string
  /** Starts a node again that was stopped. A standby follows the given node, or the primary. */
  start: (node: StandbyNode, follows?: StandbyNode) => Promise<void>
  /** Sets `synchronous_standby_names` of the primary, or of the given node. It applies to commits that wait already, too. */
  setQuorum: (names: string, on?: StandbyNode) => Promise<void>
  /** Waits until all standbys are connected to the primary. */
  connected: () => Promise<void>
}

/** Starts the servers. Stops them after the tests of the file, unless `atEnd` is `onTestFinished`. */
export async function startStandbyCluster(
  atEnd: (stop: () => Promise<void>) => void = afterAll,
): Promise<StandbyCluster> {
  const folder = `/var/tmp/petstore-test-${randomUUID()}`
  const running = new Set<StandbyNode>()
  atEnd(async () => {
    await Promise.all([...running].map(({ server }) => server.stop()))
    for (const { folder: dataFolder } of running) rmSync(dataFolder, { recursive: true, force: true })
  })

  const open = async (node: Omit<StandbyNode, 'server' | 'url'>, follows?: { port: number }) =>
    startCluster({
      binaries,
      dataFolder: node.folder,
      port: node.port,
      settings: {
        wal_level: 'logical',
        // A test that stops the primary and one standby needs no checkpoint in between.
        max_wal_size: '1GB',
        ...(follows && {
          primary_conninfo: `host=127.0.0.1 port=${follows.port} user=postgres application_name=${node.name}`,
          wal_retrieve_retry_interval: '100ms',
        }),
      },
    })

  const [one, two, three] = (await Promise.all(
    ['n1', 'n2', 'n3'].map(async (name) => ({ name, folder: `${folder}-${name}`, port: await freePort() })),
  )) as [Nameless, Nameless, Nameless]
  const first = await open(one)
  const databaseUrl = await prepareDatabase(first.url('postgres'))
  await first.stop()
  const urlOf = ({ port }: { port: number }) => databaseUrl.replace(`:${one.port}/`, `:${port}/`)
  for (const standby of [two, three]) {
    execFileSync('cp', ['-a', one.folder, standby.folder])
    writeFileSync(join(standby.folder, 'standby.signal'), '')
  }
  const primary: StandbyNode = { ...one, url: databaseUrl, server: await open(one) }
  running.add(primary)
  const standbys = (await Promise.all(
    [two, three].map(async (node): Promise<StandbyNode> => {
      const started = { ...node, url: urlOf(node), server: await open(node, one) }
      running.add(started)
      return started
    }),
  )) as [StandbyNode, StandbyNode]

  async function setQuorum(names: string, on = primary): Promise<void> {
    const superuserUrl = asSuperuser(on.url)
    await sql(superuserUrl, `alter system set synchronous_standby_names = '${names}'`)
    await sql(superuserUrl, 'select pg_reload_conf()')
    const text = `select current_setting('synchronous_standby_names') = '${names}' as "isSet"`
    await until(async () => (await sql<{ isSet: boolean }>(superuserUrl, text))[0]?.isSet === true)
    await writeWal(on)
  }

  const connected = () =>
    until(
      async () =>
        (await sql(asSuperuser(primary.url), `select from pg_stat_replication where state = 'streaming'`))
          .length === 2,
    )

  await connected()
  await setQuorum('ANY 1 (n2,n3)')
  return {
    primary,
    standbys,
    nodesUrl: databaseUrl.replace(
      `127.0.0.1:${one.port}`,
      [one, two, three].map(({ port }) => `127.0.0.1:${port}`).join(','),
    ),
    start: async (node, follows = primary) => {
      node.server = await open(node, node === primary && follows === primary ? undefined : follows)
    },
    setQuorum,
    connected,
  }
}

/** Commits a message that nothing reads, without waiting for a standby. The standbys reply to it. */
export async function writeWal({ url }: StandbyNode): Promise<void> {
  await sql(
    asSuperuser(url),
    `select set_config('synchronous_commit', 'local', true), pg_logical_emit_message(true, 'test', '')`,
  )
}

type Nameless = Omit<StandbyNode, 'server' | 'url'>
