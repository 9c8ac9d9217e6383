// The services of compose.yaml, with the settings that they share.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'

export interface ComposeService {
  profiles?: string[]
  image: string
  command?: string[]
  environment?: Record<string, string | number>
  depends_on?: unknown
  healthcheck?: unknown
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  mem_limit?: string
  stop_grace_period?: string
  ports?: string[]
  volumes?: string[]
}

interface Compose {
  services: Record<string, ComposeService>
  volumes: Record<string, unknown>
}

export function readCompose(): Compose {
  const text = readFileSync(resolve(import.meta.dirname, '../../compose.yaml'), 'utf8')
  return parse(text, { merge: true }) as Compose
}
