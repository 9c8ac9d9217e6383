// The TLS certificate of PostgreSQL in one environment: valid for more than a year, and replaceable by a shorter one.
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../parts/certificate.ts'
import type { Template } from './template.ts'

const VALID_DAYS = 400

export interface Certificates {
  /** Settings of PostgreSQL. */
  settings: Record<string, string>
  /** Replaces the files. PostgreSQL reads them when it reloads its configuration. */
  replace: (validDays: number) => void
}

export function prepareCertificates(folder: string, { dataFolder }: Template): Certificates {
  const [keyFile, certificateFile] = [join(folder, 'server.key'), join(folder, 'server.crt')]
  const { uid, gid } = statSync(dataFolder)
  const replace = (validDays: number) => {
    const { key, cert } = makeCertificate(['DNS:localhost'], validDays)
    writeFileSync(keyFile, key)
    writeFileSync(certificateFile, cert)
    // PostgreSQL accepts only a key that no other user can read.
    chmodSync(keyFile, 0o600)
    for (const file of [keyFile, certificateFile]) chownSync(file, uid, gid)
  }
  replace(VALID_DAYS)
  return { settings: { ssl: 'on', ssl_cert_file: certificateFile, ssl_key_file: keyFile }, replace }
}
