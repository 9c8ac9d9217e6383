// The workloads. Each one exists as HTTP requests to the service (wrk) and as statements to PostgreSQL alone (pgbench).
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeCursor } from '../../src/contract/paging.ts'

export const WORKLOADS = ['list hot', 'list random', 'get', 'create'] as const
export type Workload = (typeof WORKLOADS)[number]

const COLUMNS = 'id, name, category_id as "categoryId", status'
const MAX_ID = '9223372036854775807'
const CURSORS = 5_000

const LIST = (before: string) => `select ${COLUMNS} from pets
  where (status, id) < ('available', ${before}) and (status, id) >= ('available', 0)
  order by status desc, id desc limit 21;`

/** Returns a pgbench script. Each statement reads or inserts what one request needs, by the indexes that the service uses. */
export function pgbenchScript(workload: Workload, pets: number): string {
  const random = `\\set id random(1, ${pets})\n`
  const oneLine = (text: string) => text.replaceAll('\n', ' ')
  const scripts: Record<Workload, string> = {
    'list hot': oneLine(LIST(MAX_ID)),
    'list random': random + oneLine(LIST(':id')),
    get: `${random}select ${COLUMNS}, version from pets where id = any(array[:id]::bigint[]) order by id desc;`,
    create: `${random}insert into pets (name, category_id, status, created_by, request_id) values ('Pet ' || :id, 1 + :id % 1000, 'available', 1, '${randomUUID()}');`,
  }
  return `${scripts[workload]}\n`
}

/** Returns a wrk script for the same workload over HTTP. */
export function wrkScript(workload: Workload, pets: number, apiKey: string, folder: string): string {
  const headers = `{ ["Authorization"] = "Bearer ${apiKey}", ["Content-Type"] = "application/json" }`
  const requests: Record<Workload, string> = {
    'list hot': `wrk.format("GET", "/v1/pets?status=available", headers)`,
    'list random': `wrk.format("GET", "/v1/pets?status=available&cursor=" .. cursors[math.random(#cursors)], headers)`,
    get: `wrk.format("GET", "/v1/pets/" .. math.random(${pets}), headers)`,
    create: `wrk.format("POST", "/v1/pets", headers, '{"name":"Pet ' .. math.random(1000000) .. '","categoryId":' .. math.random(1000) .. '}')`,
  }
  const cursorFile = join(folder, 'cursors')
  if (workload === 'list random') {
    const cursors = Array.from({ length: CURSORS }, () => randomCursor(pets))
    writeFileSync(cursorFile, cursors.join('\n'))
  }
  return `local headers = ${headers}
local cursors = {}
${workload === 'list random' ? `for line in io.lines("${cursorFile}") do cursors[#cursors + 1] = line end` : ''}
local statuses = {}
function init() math.randomseed(os.time()) end
function request() return ${requests[workload]} end
function done(summary, latency)
  io.write(string.format('{"requests":%d,"us":%d,"p50":%d,"p99":%d,"badStatus":%d,"lost":%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`
}

/** The cursor of a random page of available pets. */
export function randomCursor(pets: number): string {
  return writeCursor(
    { id: BigInt(1 + Math.floor(Math.random() * pets)), sortKey: '' },
    { status: 'available' },
  )
}
