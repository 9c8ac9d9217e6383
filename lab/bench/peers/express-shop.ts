// A peer of the service that sells pets: a careful program with Express and node-postgres, on tables of its own. One transaction
// per request, named statements, stored idempotency keys, history, and a ledger entry for each sale. It has no events, counts,
// search or expiry. `node express-shop.ts DATABASE_URL POOL_SIZE`
import { hash, randomBytes } from 'node:crypto'
import express, { type NextFunction, type Request, type Response } from 'express'
import { Pool, type PoolClient, types } from 'pg'
import { AppError, errorBody } from '../../../src/contract/errors.ts'

const [databaseUrl = '', poolSize = ''] = process.argv.slice(2)
types.setTypeParser(20, Number)
const pool = new Pool({ connectionString: databaseUrl, max: Number(poolSize) })
pool.on('error', () => {})

const apiKey = randomBytes(24).toString('base64url')
await pool.query(`
  create table if not exists pets (id bigint primary key generated always as identity, category_id bigint not null,
    created_at timestamptz not null default now(), status text not null, name text not null);
  create index if not exists pets_by_status on pets (status, id);
  create table if not exists orders (id bigint primary key generated always as identity, pet_id bigint not null references pets,
    placed_by bigint not null, created_at timestamptz not null, expires_at timestamptz not null, closed_at timestamptz,
    status text not null, price numeric, currency text);
  create unique index if not exists orders_one_open on orders (pet_id) where status = 'open';
  create table if not exists history (id bigint primary key generated always as identity, pet_id bigint not null references pets,
    at timestamptz not null, event text not null, actor_id bigint not null);
  create table if not exists entries (id bigint primary key generated always as identity, order_id bigint not null references orders,
    actor_id bigint not null, at timestamptz not null, kind text not null, method text, currency text not null, paid numeric not null);
  create table if not exists keys (actor_id bigint not null, key text not null, fingerprint text not null, response json not null,
    created_at timestamptz not null default now(), primary key (actor_id, key));`)

type Query = <Row extends object>(name: string, text: string, values: unknown[]) => Promise<Row[]>
interface Result {
  status: number
  body: object
}

/** Runs the work in one transaction. With a key, a retry gets the stored response. */
async function once(request: Request, work: (query: Query) => Promise<Result>): Promise<Result> {
  const client: PoolClient = await pool.connect()
  const query: Query = async (name, text, values) => (await client.query({ name, text, values })).rows
  const key = request.get('idempotency-key')
  const fingerprint = hash('sha256', JSON.stringify([request.path, request.body]))
  try {
    await client.query('begin')
    const [stored] =
      key === undefined
        ? []
        : await query<{ fingerprint: string; response: Result }>(
            'find_key',
            'select fingerprint, response from keys where actor_id = 1 and key = $1',
            [key],
          )
    if (stored !== undefined && stored.fingerprint !== fingerprint)
      throw new AppError('idempotency_key_reused')
    const result = stored?.response ?? (await work(query))
    if (key !== undefined && stored === undefined)
      await query(
        'add_key',
        'insert into keys (actor_id, key, fingerprint, response) values (1, $1, $2, $3)',
        [key, fingerprint, JSON.stringify(result)],
      )
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const ORDER = `id, pet_id as "petId", status, created_at as "createdAt", expires_at as "expiresAt", closed_at as "closedAt",
  price::text, currency`
const app = express()
app.disable('x-powered-by').disable('etag').use(express.json())
app.use((request, _response, next) => {
  if (request.get('authorization') !== `Bearer ${apiKey}`) throw new AppError('invalid_api_key')
  next()
})

app.post('/v1/pets', async (request, response) => {
  const { name, categoryId, status = 'available' } = request.body as Record<string, unknown>
  if (typeof name !== 'string' || !Number.isSafeInteger(categoryId)) throw new AppError('invalid_body')
  const { status: code, body } = await once(request, async (query) => {
    const text = 'insert into pets (name, category_id, status) values ($1, $2, $3) returning id'
    const [row] = await query<{ id: number }>('create_pet', text, [name, categoryId, status])
    return { status: 201, body: { id: row?.id, name, categoryId, status } }
  })
  response.status(code).json(body)
})

app.post('/v1/store/orders', async (request, response) => {
  const { petId, price, holdMinutes = 60 } = request.body as Record<string, unknown>
  if (!Number.isSafeInteger(petId)) throw new AppError('invalid_body')
  const { status, body } = await once(request, async (query) => {
    const [pet] = await query<{ status: string }>(
      'lock_pet',
      'select status from pets where id = $1 for update',
      [petId],
    )
    if (pet === undefined) throw new AppError('pet_not_found')
    if (pet.status !== 'available') throw new AppError('pet_not_available')
    await query('hold_pet', `update pets set status = 'pending' where id = $1`, [petId])
    await query(
      'add_history',
      'insert into history (pet_id, at, event, actor_id) values ($1, now(), $2, 1)',
      [petId, 'order_placed'],
    )
    const text = `insert into orders (pet_id, placed_by, created_at, expires_at, status, price, currency)
      values ($1, 1, now(), now() + make_interval(mins => $2), 'open', $3, 'EUR') returning ${ORDER}`
    const [order] = await query<object>('place_order', text, [petId, holdMinutes, price ?? null])
    return { status: 201, body: order as object }
  })
  response.status(status).json(body)
})

app.post('/v1/store/orders/:orderId/complete', async (request, response) => {
  const { price, method } = (request.body ?? {}) as Record<string, unknown>
  const { orderId } = request.params
  const { body } = await once(request, async (query) => {
    const [found] = await query<{ petId: number; status: string; isOver: boolean }>(
      'lock_order',
      `select pet_id as "petId", status, expires_at <= now() as "isOver" from orders where id = $1 for update`,
      [orderId],
    )
    if (found === undefined) throw new AppError('order_not_found')
    if (found.status !== 'completed' && (found.status !== 'open' || found.isOver))
      throw new AppError('order_closed')
    if (found.status === 'completed')
      return {
        status: 200,
        body:
          (await query<object>('get_order', `select ${ORDER} from orders where id = $1`, [orderId]))[0] ?? {},
      }
    await query('sell_pet', `update pets set status = 'sold' where id = $1`, [found.petId])
    await query(
      'add_history',
      'insert into history (pet_id, at, event, actor_id) values ($1, now(), $2, 1)',
      [found.petId, 'order_completed'],
    )
    const text = `update orders set status = 'completed', closed_at = now(), price = coalesce($2, price) where id = $1 returning ${ORDER}`
    const [order] = await query<{ price: string | null }>('complete_order', text, [orderId, price ?? null])
    await query(
      'add_sale',
      `insert into entries (order_id, actor_id, at, kind, method, currency, paid)
      values ($1, 1, now(), 'sale', $2, 'EUR', $3)`,
      [orderId, method ?? null, order?.price ?? 0],
    )
    return { status: 200, body: order as object }
  })
  response.json(body)
})

app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  if (error instanceof AppError) response.status(error.status).json(errorBody(error.code))
  else response.status(500).json(errorBody('internal_error'))
})

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address !== 'string')
    process.send?.({ origin: `http://127.0.0.1:${address.port}`, apiKey })
})
process.on('SIGTERM', () => process.exit())
