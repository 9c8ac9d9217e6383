// The metric that shows which version a process runs.
import { Gauge, type Registry } from 'prom-client'
import { VERSION } from '../values/version.ts'

/** Adds `petstore_build_info`. Its value is always 1; the version is a label, so that queries can join on it. */
export function addBuildInfo(registry: Registry): void {
  new Gauge({
    name: 'petstore_build_info',
    help: 'Always 1. The label is the version of Petstore.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1)
}
