// A peer of the service: the same three operations with Express and node-postgres, one query per request. Written like
// a careful application: pool, named statements, keyset paging, cached API keys. It must not batch or write a log.
import { hash, randomUUID } from 'node:crypto'
import express, { type NextFunction, type Request, type Response } from 'express'
import { Pool, types } from 'pg'
import { AppError, errorBody } from '../../../src/contract/errors.ts'
import { LIST_LIMIT_MAX, pageLinks, readPage } from '../../../src/contract/paging.ts'
import { PET_STATUSES, type PetStatus } from '../../../src/contract/pet-status.ts'

const [databaseUrl = '', poolSize = ''] = process.argv.slice(2)

const LIST_LIMIT_DEFAULT = 20
const NAME_LENGTH_MAX = 500
const BODY_LIMIT_BYTES = 1_048_576
const CACHED_KEYS_MAX = 1_000
const CACHED_KEY_MS = 30_000
const INT8_OID = 20
const INT64_MAX = '9223372036854775807'
const COLUMNS = 'id, name, category_id as "categoryId", status'

interface Pet {
  id: number
  name: string
  categoryId: number
  status: PetStatus
}

interface ApiKey {
  actorId: number
  scopes: string[]
}

types.setTypeParser(INT8_OID, Number)
const pool = new Pool({ connectionString: databaseUrl, max: Number(poolSize) })
// Without a listener, the loss of an idle connection would end the process.
pool.on('error', () => {})

const cachedKeys = new Map<string, { apiKey: ApiKey; untilMs: number }>()

async function findApiKey(text: string): Promise<ApiKey | undefined> {
  const digest = hash('sha256', text)
  const cached = cachedKeys.get(digest)
  if (cached !== undefined && cached.untilMs > Date.now()) return cached.apiKey
  const { rows } = await pool.query<ApiKey>({
    name: 'find_api_key',
    text: `select actor_id as "actorId", scopes from api_keys
      where hash = decode($1, 'hex') and revoked_at is null and (expires_at is null or expires_at > now())`,
    values: [digest],
  })
  const apiKey = rows[0]
  if (apiKey !== undefined) {
    if (cachedKeys.size >= CACHED_KEYS_MAX) cachedKeys.clear()
    cachedKeys.set(digest, { apiKey, untilMs: Date.now() + CACHED_KEY_MS })
  }
  return apiKey
}

function requireScope(scope: string) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const text = /^Bearer +([^ ]+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (text === undefined) throw new AppError('missing_api_key')
    const apiKey = await findApiKey(text)
    if (apiKey === undefined) throw new AppError('invalid_api_key')
    if (!apiKey.scopes.includes(scope)) throw new AppError('insufficient_scope')
    response.locals.apiKey = apiKey
    next()
  }
}

const isStatus = (value: unknown): value is PetStatus => PET_STATUSES.includes(value as PetStatus)

const app = express()
app.disable('x-powered-by')
// The service sends the version of a pet as its ETag. Express would hash every body.
app.disable('etag')

app.get('/v1/pets', requireScope('pets:read'), async (request, response) => {
  const { status, cursor, limit: limitText } = request.query
  const limitGiven = limitText === undefined ? undefined : Number(limitText)
  const isLimit =
    limitGiven === undefined ||
    (Number.isInteger(limitGiven) && limitGiven >= 1 && limitGiven <= LIST_LIMIT_MAX)
  const isCursor = cursor === undefined || typeof cursor === 'string'
  if (!isStatus(status) || !isLimit || !isCursor) throw new AppError('invalid_parameter')
  const { after, limit } = readPage(
    { ...(limitGiven && { limit: limitGiven }), ...(cursor && { cursor }) },
    { status },
    LIST_LIMIT_DEFAULT,
  )
  const { rows } = await pool.query<Pet>({
    name: 'list_pets_by_status',
    text: `select ${COLUMNS} from pets
      where (status, id) < ($1::pet_status, $2::bigint) and (status, id) >= ($1::pet_status, 0)
      order by status desc, id desc limit $3`,
    values: [status, after === undefined ? INT64_MAX : String(after.id), limit + 1],
  })
  const pets = rows.slice(0, limit)
  const last = pets.at(-1)
  const next = rows.length > limit && last !== undefined ? { id: BigInt(last.id), sortKey: '' } : undefined
  response.set(pageLinks('/v1/pets', next, { status }, { status, limit: limitGiven }))
  response.set('cache-control', 'no-store').json(pets)
})

app.get('/v1/pets/:petId', requireScope('pets:read'), async (request, response) => {
  const { petId } = request.params
  if (typeof petId !== 'string' || !/^[1-9]\d{0,17}$/.test(petId)) throw new AppError('pet_not_found')
  const { rows } = await pool.query<Pet & { version: number }>({
    name: 'get_pet',
    text: `select ${COLUMNS}, version from pets where id = $1`,
    values: [petId],
  })
  if (rows[0] === undefined) throw new AppError('pet_not_found')
  const { version, ...pet } = rows[0]
  response.set({ etag: `"${version}"`, 'cache-control': 'no-store' }).json(pet)
})

const readJson = express.json({ limit: BODY_LIMIT_BYTES })

app.post('/v1/pets', requireScope('pets:write'), readJson, async (request, response) => {
  const { name, categoryId, status = 'available' } = (request.body ?? {}) as Record<string, unknown>
  const isName = typeof name === 'string' && name.trim() !== '' && name.length <= NAME_LENGTH_MAX
  const isCategory = Number.isSafeInteger(categoryId) && (categoryId as number) > 0
  if (!isName || !isCategory || !isStatus(status)) throw new AppError('invalid_body')
  const { rows } = await pool.query<{ id: number }>({
    name: 'create_pet',
    text: `insert into pets (name, category_id, status, created_by, request_id)
      values ($1, $2, $3, $4, $5) returning id`,
    values: [name, categoryId, status, (response.locals.apiKey as ApiKey).actorId, randomUUID()],
  })
  const { id } = rows[0] as { id: number }
  response.status(201).set({ location: `/v1/pets/${id}`, etag: '"1"', 'cache-control': 'no-store' })
  response.json({ id, name, categoryId, status })
})

app.use(() => {
  throw new AppError('route_not_found')
})

// Express recognises an error handler by its four parameters.
app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  if (error instanceof AppError) {
    response.status(error.status).json(errorBody(error.code))
    return
  }
  // The JSON parser of Express throws errors with a status, for example 400 for malformed JSON.
  const { status } = error as { status?: number }
  const code = status === 413 ? 'body_too_large' : status === 400 ? 'invalid_json' : 'internal_error'
  response.status(status ?? 500).json(errorBody(code))
})

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address !== 'string') process.send?.(`http://127.0.0.1:${address.port}`)
})
process.on('SIGTERM', () => process.exit())
