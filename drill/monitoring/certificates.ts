// The TLS certificate of PostgreSQL in one environment: valid for more than a year, and replaceable by a shorter one.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Template } from './template.ts'

const VALID_DAYS = 400

export interface Certificates {
  /** Settings of PostgreSQL. */
  settings: Record<string, string>
  /** Replaces the files. PostgreSQL reads them when it reloads its configuration. */
  replace: (validDays: number) => void
}

export function prepareCertificates(folder: string, { dataFolder }: Template): Certificates {
  const [key, certificate] = [join(folder, 'server.key'), join(folder, 'server.crt')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const { uid, gid } = statSync(dataFolder)
  const replace = (validDays: number) => {
    const subject = ['-days', String(validDays), '-subj', '/CN=localhost']
    const files = ['-keyout', key, '-out', certificate]
    execFileSync('openssl', ['req', ...kind, ...subject, ...files], { stdio: 'ignore' })
    // PostgreSQL accepts only a key that no other user can read.
    chmodSync(key, 0o600)
    for (const file of [key, certificate]) chownSync(file, uid, gid)
  }
  replace(VALID_DAYS)
  return { settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key }, replace }
}
