// Self-signed certificates for servers of tests.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  key: string
  cert: string
}

/** `names` are those of the extension subjectAltName, such as `DNS:shop.example` or `IP:127.0.0.1`. */
export function makeCertificate(...names: string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.crt')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=petstore-test', '-addext', `subjectAltName=${names.join(',')}`]
  try {
    execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
