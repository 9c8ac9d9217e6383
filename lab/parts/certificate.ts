// Self-signed certificates, for servers of tests and of the lab.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const KIND = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** As PEM. */
export interface Certificate {
  key: string
  cert: string
}

/** @param names Those of the extension subjectAltName, such as `DNS:shop.example` or `IP:127.0.0.1`. */
export function makeCertificate(names: readonly string[], validDays = 2): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-certificate-'))
  const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.crt')]
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names.join(',')}`]
  const files = ['-days', String(validDays), '-keyout', key, '-out', cert]
  try {
    execFileSync('openssl', ['req', ...KIND, ...subject, ...files], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
