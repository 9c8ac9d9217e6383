// HTTP route for the health report.
// Contains no SQL; the rules are in health.ts.
import type { Db } from '../../db/database.ts'
import { response, type V1 } from '../../http/operation.ts'
import { getHealthReport } from './health.ts'
import { HEALTH_SCHEMAS, HealthReportSchema } from './schema.ts'

interface HealthServices {
  db: Db
}

const EXAMPLE = {
  checkedAt: '2026-11-19T10:22:00.000Z',
  version: '1.2.0',
  database: { version: '18.1', sizeBytes: 214_000_000 },
  checks: [
    {
      name: 'backup',
      state: 'ok',
      reportedAt: '2026-11-19T02:10:00.000Z',
      at: '2026-11-19T02:10:00.000Z',
      note: 'on the backup host',
    },
    { name: 'secondPlace', state: 'unknown' },
    { name: 'restore', state: 'ok', at: '2026-11-19T05:12:00.000Z' },
    {
      name: 'disk',
      state: 'attention',
      reportedAt: '2026-11-19T10:15:00.000Z',
      usedBytes: 36_400_000_000,
      totalBytes: 40_000_000_000,
      note: '/var/lib/postgresql',
    },
    { name: 'certificate', state: 'unknown' },
    { name: 'events', state: 'ok' },
    { name: 'holds', state: 'ok' },
    { name: 'delivery', state: 'ok' },
    { name: 'webhooks', state: 'ok' },
  ],
}

function getHealthReportRoute(app: V1, { db }: HealthServices): void {
  app.route({
    method: 'GET',
    url: '/health-report',
    config: { scope: 'admin', showsHolds: false },
    schema: {
      operationId: 'getHealthReport',
      summary: 'Get the health report',
      description:
        'Returns what a shop depends on and whether it needs a person, in few figures: backups, the disk, the certificate, the parts of the service. It says `unknown` of what nobody has reported. Load balancers use `/ready` of the admin port instead.',
      tags: ['health'],
      response: {
        200: response(HealthReportSchema, { description: 'The report.', example: EXAMPLE }),
      },
    },
    handler: () => getHealthReport(db),
  })
}

export const HEALTH = { schemas: HEALTH_SCHEMAS, operations: [getHealthReportRoute] }
