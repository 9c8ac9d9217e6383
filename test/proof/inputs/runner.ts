// Many inputs at a time, each answer judged, every kind of fault counted; the first one is made as small as it gets.
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { assert } from 'vitest'
import { type ErrorCode, ERRORS } from '../../../src/errors.ts'
import { checkResponse } from '../../support/responses.ts'
import type { TestResponse } from '../../support/client.ts'
import { replayWith, SEED } from '../seed.ts'
import type { Connection, Request } from './connection.ts'
import type { NegativeInput, Refusal } from './negative.ts'

const SHRINKING_MAX_MS = 20_000
/** How often a request is sent again that the service on a busy host had no time for. */
const RETRIES_MAX = 20
const SHOWN_MAX = 5

/** What the proof tried and found. Each is counted where it happens. */
export const counts = {
  operations: 0,
  'negative inputs': 0,
  'positive inputs': 0,
  'of these at an edge': 0,
  'answers checked': 0,
  'answers of 5xx': 0,
  'sent again after 503 and Retry-After': 0,
  'wrongly accepted': 0,
  'wrongly refused': 0,
  'refused with another code or field': 0,
  'other faults': 0,
  'tables changed by refused requests': 0,
}

type Count = keyof typeof counts

/** Why an answer is wrong. */
export class Complaint extends Error {
  readonly count: Count

  constructor(count: Count, message: string) {
    super(message)
    this.count = count
  }
}

/** One exchange, for the report. */
export interface Exchange {
  request: Request
  response: TestResponse | undefined
}

/** Sends over one connection, checks each answer as every answer is checked, and remembers the last exchange. */
export interface Recorder {
  last: Exchange | undefined
  send: (request: Request) => Promise<TestResponse>
}

export function record(connection: Connection): Recorder {
  const recorder: Recorder = {
    last: undefined,
    send: async (request) => {
      const exchange: Exchange = { request, response: undefined }
      recorder.last = exchange
      const response = await sendPolitely(connection, request)
      exchange.response = response
      counts['answers checked'] += 1
      if (response.status >= 500) throw new Complaint('answers of 5xx', 'a fault of the service')
      checkResponse({ method: request.method, path: request.target, ...response })
      return response
    },
  }
  return recorder
}

/** As a client should: what was surely not done is sent again after the time that the service asks for. */
async function sendPolitely(connection: Connection, request: Request): Promise<TestResponse> {
  for (let retries = 0; ; retries += 1) {
    const response = await connection.send(request)
    const retryAfter = response.headers.get('retry-after')
    if (!isBusy(response, request) || retryAfter === null || retries === RETRIES_MAX) return response
    checkResponse({ method: request.method, path: request.target, ...response })
    counts['sent again after 503 and Retry-After'] += 1
    await sleep(Number(retryAfter) * 1_000)
  }
}

/** Whether nothing was done since the host is busy. An answer to HEAD has no body, and HEAD does nothing anyway. */
function isBusy({ status, body }: TestResponse, { method }: Request): boolean {
  if (status !== 503) return false
  return method === 'HEAD' || isBusyCode((body as { code?: unknown }).code)
}

export function isBusyCode(code: unknown): boolean {
  return code === 'overloaded' || code === 'unavailable'
}

export interface Group<Input> {
  /** For the report: which operation, and what was tried. */
  what: string
  kindOf: (input: Input) => string
  /** Throws a Complaint, or whatever an assertion throws. */
  work: (input: Input, via: Recorder) => Promise<void>
}

interface Failure<Input> {
  index: number
  input: Input
  report: string
}

export async function runInputs<Input>(
  group: Group<Input>,
  connections: Connection[],
  inputs: readonly Input[],
): Promise<Failure<Input>[]> {
  const failures: Failure<Input>[] = []
  let next = 0
  await Promise.all(
    connections.map(async (connection) => {
      const via = record(connection)
      while (next < inputs.length) {
        const index = next++
        const input = inputs[index] as Input
        try {
          await group.work(input, via)
        } catch (error) {
          counts[error instanceof Complaint ? error.count : 'other faults'] += 1
          failures.push({ index, input, report: describe(group, input, error, via.last) })
        }
      }
    }),
  )
  return failures.sort((one, other) => one.index - other.index)
}

/** Runs them and fails with what went wrong first. */
export async function expectAll<Input>(
  group: Group<Input>,
  connections: Connection[],
  inputs: readonly Input[],
): Promise<void> {
  const failures = await runInputs(group, connections, inputs)
  if (failures.length > 0) fail(group, failures)
}

/** The same for random inputs: the first failure is shrunk, alone on one connection. */
export async function expectRandom<Input>(
  group: Group<Input>,
  connections: Connection[],
  inputs: fc.Arbitrary<Input>,
  numRuns: number,
): Promise<void> {
  const failures = await runInputs(group, connections, fc.sample(inputs, { seed: SEED, numRuns }))
  const [first] = failures
  if (first === undefined) return
  const via = record(connections[0] as Connection)
  let smallest = first.report
  await fc.check(
    fc.asyncProperty(inputs, async (input) => {
      try {
        await group.work(input, via)
        return true
      } catch (error) {
        smallest = describe(group, input, error, via.last)
        return false
      }
    }),
    // The samples of a seed are the runs of the same seed, so the place of the one is the path to the other.
    { seed: SEED, path: String(first.index), numRuns: 1, interruptAfterTimeLimit: SHRINKING_MAX_MS },
  )
  fail(group, [{ ...first, report: smallest }, ...failures.slice(1)])
}

function fail<Input>({ what }: Group<Input>, failures: Failure<Input>[]): never {
  const shown = failures.slice(0, SHOWN_MAX).map(({ report }) => report)
  assert.fail(
    `${what}: ${failures.length} wrong, of which:\n\n${shown.join('\n\n')}\n\nAgain: ${replayWith('test/proof/inputs')}`,
  )
}

function describe<Input>(
  { what, kindOf }: Group<Input>,
  input: Input,
  error: unknown,
  last: Exchange | undefined,
): string {
  const message = error instanceof Error ? error.message : String(error)
  return [
    `${what} | ${kindOf(input)} | seed ${SEED}`,
    `  wrong:   ${message}`,
    ...(last === undefined
      ? []
      : [`  request: ${showRequest(last.request)}`, `  answer:  ${showAnswer(last.response)}`]),
  ].join('\n')
}

/** Without the key. */
function showRequest({ method, target, headers, authorization, body }: Request): string {
  const named = headers.map(([name, value]) => `${name}: ${value}`)
  const credentials = `${authorization.length} × Authorization`
  return `${method} ${shorten(target)} [${[credentials, ...named].map(shorten).join(' | ')}] ${showBytes(body)}`
}

function showBytes(body: Buffer | undefined): string {
  if (body === undefined) return 'without a body'
  const text = body.toString()
  return Buffer.from(text).equals(body)
    ? shorten(JSON.stringify(text))
    : `bytes ${shorten(body.toString('hex'))}`
}

function showAnswer(response: TestResponse | undefined): string {
  return response === undefined ? 'none' : `${response.status} ${shorten(response.text)}`
}

function shorten(value: string): string {
  return value.length <= 700 ? value : `${value.slice(0, 700)}… (${value.length})`
}

/** Sends an input that must be refused and judges how it was. */
export async function expectRejection({ request, expected }: NegativeInput, via: Recorder): Promise<void> {
  counts['negative inputs'] += 1
  const { status, body } = await via.send(request)
  const wanted = expected
    .map(({ code, fields }) => (fields === undefined ? code : `${code} for [${fields.join()}]`))
    .join(' or ')
  if (status < 400) throw new Complaint('wrongly accepted', `accepted, not refused with ${wanted}`)
  if (request.method === 'HEAD') return expectStatusOf(expected, status)
  const { code, details = [] } = body as { code: string; details?: { field: string }[] }
  const named = [...new Set(details.map(({ field }) => field.split('.')[0] as string))].sort().join()
  const isRight = expected.some(
    (one) =>
      one.code === code &&
      status === ERRORS[code as ErrorCode].status &&
      (one.fields === undefined || one.fields.toSorted().join() === named),
  )
  if (!isRight) throw new Complaint('refused with another code or field', `not ${wanted}`)
}

/** An answer to HEAD has no body to read the code from. */
function expectStatusOf(expected: Refusal[], status: number): void {
  const isRight = expected.some(({ code }) => ERRORS[code as ErrorCode].status === status)
  if (!isRight) throw new Complaint('refused with another code or field', 'another status')
}
