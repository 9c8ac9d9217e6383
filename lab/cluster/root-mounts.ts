// Prepares the Debian root for running processes in it: mounts /proc, /dev and an empty /srv. The mounts are visible only
// inside the namespaces of the drill, so the root itself stays unchanged.
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runChecked } from '../parts/processes.ts'

/** Holds configurations and the data of etcd. */
const SRV_SIZE = '1g'
/** Size of the data volume of one PostgreSQL: up to 400 MB of WAL, and about 1.2 kB for each acknowledged write. */
const VOLUME_SIZE = '2400m'

export const ROOT_ENVIRONMENT = {
  HOME: '/var/lib/postgresql',
  LC_ALL: 'C.UTF-8',
  PATH: '/usr/lib/postgresql/17/bin:/usr/sbin:/usr/bin',
}

/** The hosts share one root, so the pgBackRest of each host has its files in the folder of the host. */
export function backrestEnvironment(folder: string): Record<string, string> {
  return {
    PGBACKREST_CONFIG: `${folder}/pgbackrest/pgbackrest.conf`,
    PGBACKREST_CONFIG_INCLUDE_PATH: `${folder}/pgbackrest/conf.d`,
    PGBACKREST_LOCK_PATH: `${folder}/pgbackrest/lock`,
    PGBACKREST_LOG_PATH: `${folder}/pgbackrest/log`,
    PGBACKREST_SPOOL_PATH: `${folder}/pgbackrest/spool`,
  }
}

export type RootUser = 'etcd' | 'postgres' | 'root'

export class Root {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  async mount(): Promise<void> {
    await runChecked('mount', ['-t', 'proc', 'proc', this.path('/proc')])
    await runChecked('mount', ['--rbind', '/dev', this.path('/dev')])
    // PostgreSQL keeps shared memory here. On the /dev/shm of the host, it would stay behind after kill -9.
    await runChecked('mount', ['-t', 'tmpfs', 'tmpfs', this.path('/dev/shm')])
    await runChecked('mount', ['-t', 'tmpfs', '-o', `size=${SRV_SIZE},mode=755`, 'tmpfs', this.path('/srv')])
  }

  async unmount(): Promise<void> {
    for (const folder of ['/srv', '/dev', '/proc'])
      await runChecked('umount', ['--recursive', '--lazy', this.path(folder)])
  }

  /** The path on the host of a path inside the root. */
  path(inside: string): string {
    return join(this.folder, inside)
  }

  /** Mounts an empty file system of limited size. */
  async createVolume(inside: string): Promise<void> {
    await mkdir(this.path(inside), { recursive: true })
    await runChecked('mount', ['-t', 'tmpfs', '-o', `size=${VOLUME_SIZE}`, 'tmpfs', this.path(inside)])
  }

  async copyIn(file: string, inside: string): Promise<void> {
    await copyFile(file, this.path(inside))
    await chmod(this.path(inside), 0o644)
  }

  /** Creates a folder that only this user can read, or gives an existing one to the user. */
  async createFolder(inside: string, user: RootUser): Promise<void> {
    const owner = [`--owner=${user}`, `--group=${user}`]
    await runChecked('chroot', [this.folder, 'install', '--directory', '--mode=700', ...owner, inside])
  }

  /** Gives a folder and everything in it to a user. */
  async giveTo(inside: string, user: RootUser): Promise<void> {
    await runChecked('chroot', [this.folder, 'chown', '--recursive', `${user}:${user}`, inside])
  }

  /** The arguments of `chroot` that run a command inside the root. */
  command(user: RootUser, command: string[]): string[] {
    return [`--userspec=${user}:${user}`, this.folder, ...command]
  }
}
