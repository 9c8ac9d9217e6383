// The alerts of deploy/monitoring in a real Prometheus and Alertmanager: the quick faults of `npm run drill -- alerts`.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runFault } from '../../lab/alerts/fault-run.ts'
import { faultOf, type PlantedFaultName } from '../../lab/alerts/planted-faults.ts'
import { prepareTemplate } from '../../lab/alerts/template.ts'
import { embeddedBinaries } from '../../src/data/demo/cluster.ts'

const FAULTS: PlantedFaultName[] = ['writes-stalled', 'key-expires', 'certificate-expires']
const folder = `/var/tmp/petstore-test-${randomUUID()}`
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const template = await prepareTemplate(
  process.env['TEST_POSTGRES'] ?? embeddedBinaries(),
  join(folder, 'template'),
)

test.concurrent.each(FAULTS)('%s sends exactly its alert, in time', async (name) => {
  const fault = faultOf(name)
  const row = await runFault({
    name,
    fault,
    template,
    folder: join(folder, name),
    warmUpSeconds: 2,
    healthySeconds: 3,
    watchSeconds: 3,
    heals: false,
    intervalSeconds: 1,
    groupWaitSeconds: 1,
    say: () => {},
  })
  expect(row.problems).toEqual([])
  expect(row.notified).toEqual(fault.expected)
})
