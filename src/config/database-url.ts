// DATABASE_URL with one or more hosts: postgres://user:password@host1:5432,host2:5432/database
// Opens no connection; db/failover/hosts.ts finds out which host is the primary.

const HOSTS_MAX = 10
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s
/** The service writes, so it always looks for the primary. These values of `target_session_attrs` mean the same. */
const PRIMARY_ATTRIBUTES = new Set(['primary', 'read-write'])

/** Returns one URL per host, in the given order. Throws a RangeError that says what is wrong, without quoting the URL. */
export function splitDatabaseUrl(databaseUrl: string): string[] {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(databaseUrl) ?? []
  const urls = hosts.split(',').map((host) => start + host + rest)
  const hasEmptyHost = urls.length > 1 && hosts.split(',').includes('')
  if (start === '' || hasEmptyHost || !urls.every((url) => URL.canParse(url))) {
    throw new RangeError(
      'must be a URL such as postgres://user:password@host:5432/database; separate several hosts with commas',
    )
  }
  if (urls.length > HOSTS_MAX) throw new RangeError(`has more than ${HOSTS_MAX} hosts`)
  const attributes = new URL(urls[0] as string).searchParams.get('target_session_attrs')
  if (attributes !== null && !PRIMARY_ATTRIBUTES.has(attributes)) {
    throw new RangeError(
      'has an unsupported target_session_attrs; remove it: the service always uses the primary',
    )
  }
  return urls
}

/** The host and port of a URL with one host, for messages. Contains no password. */
export function hostOf(url: string): string {
  const { hostname, port } = new URL(url)
  return port === '' ? hostname : `${hostname}:${port}`
}

/** The role in a URL with one or more hosts. */
export function roleOf(databaseUrl: string): string {
  return decodeURIComponent(new URL(splitDatabaseUrl(databaseUrl)[0] as string).username)
}
