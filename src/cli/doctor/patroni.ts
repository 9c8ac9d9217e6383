// The check `patroni`: whether the version and the settings of Patroni protect acknowledged writes. It reads Patroni's
// REST API, which needs no password for reading.
import { type Finding, messageOf } from './finding.ts'

const REQUEST_TIMEOUT_MS = 5_000
/** Older versions can promote a standby that lacks acknowledged writes if the cluster uses etcd3. */
const VERSION_MIN = '3.0.3'
const check = 'patroni'

interface Status {
  patroni?: { version?: string; scope?: string }
}

interface Cluster {
  members?: { name: string; role: string; state: string }[]
  pause?: boolean
}

interface Settings {
  synchronous_mode?: boolean | string
  synchronous_mode_strict?: boolean | string
}

/** `address` is that of any node, such as https://10.0.0.11:8008. */
export async function checkPatroni(address: URL): Promise<Finding> {
  try {
    const [status, cluster, settings] = await Promise.all([
      get<Status>(address, '/patroni'),
      get<Cluster>(address, '/cluster'),
      get<Settings>(address, '/config'),
    ])
    return judgePatroni(status, cluster, settings)
  } catch (error) {
    return {
      check,
      state: 'fault',
      message: `${address.origin} did not return the state of Patroni: ${causeOf(error)}`,
      remedy:
        address.protocol === 'https:'
          ? 'Set --patroni to the REST address of a Patroni node. If a CA of your own signed its certificate, set NODE_EXTRA_CA_CERTS to the file of that CA.'
          : 'Set --patroni to the REST address of a Patroni node, such as https://10.0.0.11:8008.',
    }
  }
}

async function get<Body>(address: URL, path: string): Promise<Body> {
  const response = await fetch(new URL(path, address), {
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    redirect: 'error',
  })
  // Some versions return 503 with a body while PostgreSQL is not running.
  if (!response.ok && response.status !== 503) throw new Error(`${path} returned ${response.status}`)
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null) throw new Error(`${path} returned no JSON object`)
  return body as Body
}

function judgePatroni(status: Status, { members = [], pause }: Cluster, settings: Settings): Finding {
  const version = status.patroni?.version
  if (version === undefined) throw new Error('/patroni returned no version')
  if (isOlder(version, VERSION_MIN)) {
    return {
      check,
      state: 'fault',
      message: `Patroni ${version} is too old: with etcd3, a failover can lose acknowledged writes`,
      remedy: `Upgrade Patroni to ${VERSION_MIN} or newer on all nodes; 4.0 or newer has synchronous_mode: quorum.`,
    }
  }
  const leader = members.find(({ role }) => role === 'leader')
  if (leader === undefined) {
    return {
      check,
      state: 'fault',
      message: `Patroni ${version}: the cluster has no leader`,
      remedy: 'Run patronictl list, and read the log of Patroni on each node.',
    }
  }
  const standbys = members.filter(({ role }) => role === 'sync_standby' || role === 'quorum_standby')
  const state = `Patroni ${version}: the leader is ${leader.name}, ${standbys.length} of ${members.length - 1} standbys are synchronous`
  const weaknesses = weaknessesOf(settings, standbys.length, pause ?? false)
  if (weaknesses.length === 0) return { check, state: 'ok', message: state }
  return {
    check,
    state: 'warning',
    message: `${state}; ${weaknesses.map(({ message }) => message).join('; ')}`,
    remedy: `Run: ${weaknesses.map(({ command }) => command).join('; ')}`,
  }
}

function weaknessesOf(
  settings: Settings,
  synchronousStandbys: number,
  isPaused: boolean,
): { message: string; command: string }[] {
  const edit = (setting: string) => `patronictl edit-config -s ${setting}`
  const found = []
  if (!isOn(settings.synchronous_mode) && settings.synchronous_mode !== 'quorum') {
    found.push({
      message: 'synchronous_mode is off, so a failover can lose acknowledged writes',
      command: edit('synchronous_mode=quorum -s synchronous_mode_strict=true'),
    })
  } else if (!isOn(settings.synchronous_mode_strict)) {
    found.push({
      message:
        'synchronous_mode_strict is off, so the primary acknowledges writes alone while no standby is connected, and a failover can lose them',
      command: edit('synchronous_mode_strict=true'),
    })
  }
  if (synchronousStandbys === 0 && found.length === 0) {
    found.push({
      message: 'no standby is synchronous, so writes wait and a failover is not possible',
      command: 'patronictl list',
    })
  }
  if (isPaused) {
    found.push({
      message: 'the cluster is paused, so there is no failover',
      command: 'patronictl resume',
    })
  }
  return found
}

/** Patroni accepts the boolean values of PostgreSQL. */
function isOn(value: boolean | string | undefined): boolean {
  return value === true || /^(on|true|yes|1)$/i.test(String(value))
}

function isOlder(version: string, min: string): boolean {
  const numbersOf = (text: string) => text.split('.').map((part) => Number.parseInt(part, 10) || 0)
  const [actual, needed] = [numbersOf(version), numbersOf(min)]
  const at = needed.findIndex((number, index) => number !== (actual[index] ?? 0))
  return at >= 0 && (actual[at] ?? 0) < (needed[at] ?? 0)
}

/** The message of `fetch` is only "fetch failed"; its cause says why. */
function causeOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
}
