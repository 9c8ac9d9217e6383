// The text of deploy/monitoring/alerts.yaml, from the table of src/telemetry/alerts.ts.
import { Document, type YAMLMap, type YAMLSeq } from 'yaml'
import {
  ALERT_NAMES,
  type AlertName,
  alertOf,
  DAY_SECONDS,
  RECORDED,
  runbookEntry,
} from '../src/telemetry/alerts.ts'

const HEADER = ` Alerts for Prometheus, written by \`npm run openapi\`. Each one has an entry in docs/runbook.md. The job of the instances is
 "petstore", that of \`petstore deliver\` is "petstore-deliver", as in prometheus.yaml. severity: page means that users notice
 it now; ticket means this week. Requires Prometheus 2.42 or later.`

export function alertsFile(): string {
  const document = new Document({
    groups: [{ name: 'petstore', rules: [...RECORDED, ...ALERT_NAMES.map(ruleOf)] }],
  })
  document.commentBefore = HEADER
  const rules = document.getIn(['groups', 0, 'rules']) as YAMLSeq<YAMLMap>
  for (const [index, name] of ALERT_NAMES.entries()) {
    const node = rules.items[RECORDED.length + index] as YAMLMap
    const { note } = alertOf(name)
    node.spaceBefore = true
    if (note !== undefined) node.commentBefore = note.replaceAll(/^/gm, ' ')
  }
  return document.toString({ lineWidth: 0, singleQuote: true })
}

function ruleOf(name: AlertName) {
  const { expr, limit = 0, forSeconds, keepFiringSeconds, severity, summary, heading } = alertOf(name)
  return {
    alert: name,
    expr: expr(limitText(limit)),
    ...(forSeconds !== undefined && { for: durationText(forSeconds) }),
    ...(keepFiringSeconds !== undefined && { keep_firing_for: durationText(keepFiringSeconds) }),
    labels: { severity },
    annotations: { summary, runbook: runbookEntry(heading) },
  }
}

/** Days can be read as such. */
function limitText(limit: number): string {
  const days = limit / DAY_SECONDS
  return days > 0 && Number.isInteger(days) ? `${days} * ${DAY_SECONDS}` : String(limit)
}

const durationText = (seconds: number) => (seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`)
