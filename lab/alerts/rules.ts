// What the drill reads from deploy/monitoring/alerts.yaml, so that its table of faults does not repeat it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MONITORING_FOLDER } from './prometheus.ts'

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600 }

/** The `for` time of each alert in seconds, by its name. */
export function readForSeconds(): Map<string, number> {
  const text = readFileSync(join(MONITORING_FOLDER, 'alerts.yaml'), 'utf8')
  const rules = text.split(/^ +- (?=alert: |record: )/m).filter((rule) => rule.startsWith('alert: '))
  return new Map(
    rules.map((rule) => {
      const name = /^alert: (\w+)/.exec(rule)?.[1] ?? ''
      const [, count = '0', unit = 's'] = /^ +for: (\d+)([smh])$/m.exec(rule) ?? []
      return [name, Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN)]
    }),
  )
}
