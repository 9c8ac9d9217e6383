// The alerts of deploy/monitoring: `promtool` runs the cases of alert-cases.yaml, and the runbook has an entry for each alert.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const RULES = join(ROOT, 'deploy/monitoring/alerts.yaml')
const CASES = join(import.meta.dirname, 'alert-cases.yaml')
const rules = readFileSync(RULES, 'utf8')
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)

test('each fault fires exactly the alerts that its case lists, and a healthy store fires none', () => {
  expect(execFileSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })).toContain('SUCCESS')
  expect(execFileSync('promtool', ['test', 'rules', CASES], { encoding: 'utf8' })).toContain('SUCCESS')
})

test('each alert has a case in which it fires', () => {
  const fired = [...readFileSync(CASES, 'utf8').matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name)
  expect(new Set(fired)).toEqual(new Set(alerts))
})

test('each alert has an entry in the runbook', () => {
  const text = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8')
  const headings = new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
  const anchors = [...rules.matchAll(/runbook: docs\/runbook\.md#(\S+)$/gm)].map(([, anchor = '']) => anchor)
  expect(anchors).toHaveLength(alerts.length)
  expect(anchors.filter((anchor) => !headings.has(anchor))).toEqual([])
})
