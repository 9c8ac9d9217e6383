// The alerts of deploy/monitoring: `promtool` runs the cases of alert-cases.yaml, which has a case for each alert.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ALERT_NAMES } from '../../src/telemetry/alerts.ts'

const RULES = resolve(import.meta.dirname, '../../deploy/monitoring/alerts.yaml')
const CASES = join(import.meta.dirname, 'alert-cases.yaml')

test('each fault fires exactly the alerts that its case lists, and a healthy store fires none', () => {
  expect(execFileSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' })).toContain('SUCCESS')
  expect(execFileSync('promtool', ['test', 'rules', CASES], { encoding: 'utf8' })).toContain('SUCCESS')
})

interface Case {
  promql_expr_test: { exp_samples: { labels: string }[] }[]
}

test('each alert has a case in which it fires', () => {
  const { tests } = parse(readFileSync(CASES, 'utf8'), { merge: true }) as { tests: Case[] }
  const samples = tests.flatMap((one) => one.promql_expr_test).flatMap(({ exp_samples }) => exp_samples)
  const fired = samples.map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1])
  expect(new Set(fired)).toEqual(new Set(ALERT_NAMES))
})
