// The check `certificate`: whether the certificate of PostgreSQL ends soon. Finds nothing without TLS.
import type { Client } from 'pg'
import { certificateEnd } from '../../db/connection/pool.ts'
import { judge } from './alert-limits.ts'
import { ageOf, type Finding } from './finding.ts'

export function checkCertificate(client: Client): Finding[] {
  const end = certificateEnd(client)
  if (end === undefined) return []
  const secondsLeft = (end.getTime() - Date.now()) / 1_000
  return [
    judge('PetstoreCertificateExpires', secondsLeft, {
      ok: `the certificate of PostgreSQL expires in ${ageOf(secondsLeft)}`,
      beyond: (left) => `the certificate of PostgreSQL expires in ${ageOf(left)}`,
      step: 'Renew the certificates of all nodes.',
    }),
  ]
}
