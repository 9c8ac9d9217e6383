// Sends many inputs at a time, checks each response, counts the failures by kind, and shrinks the first failing input.
import * as fc from 'fast-check'
import { assert, expect } from 'vitest'
import { type ErrorCode, ERRORS } from '../../../src/contract/errors.ts'
import type { TestResponse } from '../../support/client.ts'
import { isBusy, retryWhileBusy } from '../../support/load.ts'
import { checkResponse } from '../../support/responses.ts'
import { ATTEMPTS_MAX, countLate, isUnknown, mayBeLate } from '../late.ts'
import { replayWith, SEED } from '../seed.ts'
import type { Connection, Request } from './connection.ts'
import type { NegativeInput, Rejection } from './negative.ts'

const SHRINKING_MAX_MS = 20_000
const SHOWN_MAX = 5

/** The results for the table in docs/evidence/reliability.md. */
export const counts = {
  operations: 0,
  'negative inputs': 0,
  'positive inputs': 0,
  'of these, boundary values': 0,
  'responses checked': 0,
  '5xx responses': 0,
  'wrongly accepted': 0,
  'wrongly rejected': 0,
  'rejected with the wrong code or field': 0,
  'other failures': 0,
  'tables changed by rejected requests': 0,
}

type Count = keyof typeof counts

/** Why a response is wrong. */
export class Complaint extends Error {
  readonly count: Count

  constructor(count: Count, message: string) {
    super(message)
    this.count = count
  }
}

/** Nobody knows whether the service has made a change, because the host is busy. */
class UnknownOutcome extends Complaint {
  constructor() {
    super('5xx responses', 'the outcome is unknown')
  }
}

/** One exchange, for the report. */
export interface Exchange {
  request: Request
  response: TestResponse | undefined
}

/** Sends over one connection, runs the general checks on each response, and keeps the last exchange. */
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
      const startedAt = performance.now()
      const response = await sendWithRetries(connection, request)
      exchange.response = response
      counts['responses checked'] += 1
      if (isUnknown(response) && mayBeLate(startedAt)) throw new UnknownOutcome()
      if (response.status >= 500) throw new Complaint('5xx responses', 'the service failed')
      checkResponse({ method: request.method, path: request.target, ...response })
      return response
    },
  }
  return recorder
}

/** Retries a request that was certainly not executed, because the host is busy. */
function sendWithRetries(connection: Connection, request: Request): Promise<TestResponse> {
  return retryWhileBusy(
    () => connection.send(request),
    (response) => {
      // HEAD has no error code, but changes nothing anyway.
      const isLate = request.method === 'HEAD' ? response.status === 503 : isBusy(response)
      if (!isLate) return false
      checkResponse({ method: request.method, path: request.target, ...response })
      assert.match(response.headers.get('retry-after') ?? '', /^\d+$/)
      countLate()
      return true
    },
  )
}

/** Whether the code of an error that was logged says that the host is busy. */
export function isBusyCode(code: unknown): boolean {
  return code === 'overloaded' || code === 'unavailable' || code === 'outcome_unknown'
}

/** Sends the input again, as a new one, if its outcome is unknown because the host is busy. */
async function workKnown<Input>({ work }: Group<Input>, input: Input, via: Recorder): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(input, via)
    } catch (error) {
      if (!(error instanceof UnknownOutcome) || attempt === ATTEMPTS_MAX) throw error
      countLate()
    }
  }
}

export interface Group<Input> {
  /** For the report: the operation, or what was tried. */
  what: string
  kindOf: (input: Input) => string
  /** Throws a Complaint, or an assertion error. */
  work: (input: Input, via: Recorder) => Promise<void>
}

/** The log of the service, for the report. */
let readLog = (): string => ''

export function showLogOf(log: () => string): void {
  readLog = log
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
          await workKnown(group, input, via)
        } catch (error) {
          counts[error instanceof Complaint ? error.count : 'other failures'] += 1
          failures.push({ index, input, report: describe(group, input, error, via.last) })
        }
      }
    }),
  )
  return failures.sort((one, other) => one.index - other.index)
}

/** Runs the inputs, and fails with the first failures. */
export async function expectAll<Input>(
  group: Group<Input>,
  connections: Connection[],
  inputs: readonly Input[],
): Promise<void> {
  const failures = await runInputs(group, connections, inputs)
  if (failures.length > 0) fail(group, failures)
}

/** Like `expectAll`, for random inputs. Shrinks the first failing input, alone on one connection. */
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
        await workKnown(group, input, via)
        return true
      } catch (error) {
        smallest = describe(group, input, error, via.last)
        return false
      }
    }),
    // fc.sample and fc.check generate the same inputs from a seed, so the index of a failure is its path.
    { seed: SEED, path: String(first.index), numRuns: 1, interruptAfterTimeLimit: SHRINKING_MAX_MS },
  )
  fail(group, [{ ...first, report: smallest }, ...failures.slice(1)])
}

function fail<Input>({ what }: Group<Input>, failures: Failure<Input>[]): never {
  const shown = failures.slice(0, SHOWN_MAX).map(({ report }) => report)
  assert.fail(
    `${what}: ${failures.length} wrong, including:\n\n${shown.join('\n\n')}\n\nTo reproduce:\n${replayWith(`test/proof/inputs -t '${titlePattern()}'`)}`,
  )
}

/** Matches only the title of the current test. */
function titlePattern(): string {
  const title = (expect.getState().currentTestName ?? '').replaceAll(' > ', ' ')
  return `^${title.replaceAll(/[^\w ,:-]/g, '.')}$`
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
    `  wrong:    ${message}`,
    ...(last === undefined
      ? []
      : [
          `  request:  ${showRequest(last.request)}`,
          `  response: ${showResponse(last.response)}`,
          ...loggedFor(last.response).map((line) => `  log:      ${shorten(line)}`),
        ]),
  ].join('\n')
}

/** The log lines about a response. */
function loggedFor(response: TestResponse | undefined): string[] {
  const requestId = response?.headers.get('x-request-id')
  if (!requestId) return []
  return readLog()
    .split('\n')
    .filter((line) => line.includes(JSON.stringify(requestId)))
}

/** Describes the request without the API key. */
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

function showResponse(response: TestResponse | undefined): string {
  return response === undefined ? 'none' : `${response.status} ${shorten(response.text)}`
}

function shorten(value: string): string {
  return value.length <= 700 ? value : `${value.slice(0, 700)}… (${value.length})`
}

/** Sends an input that must be rejected, and checks the error. */
export async function expectRejection({ request, expected }: NegativeInput, via: Recorder): Promise<void> {
  counts['negative inputs'] += 1
  const { status, body } = await via.send(request)
  const wanted = expected
    .map(({ code, fields }) => (fields === undefined ? code : `${code} for [${fields.join()}]`))
    .join(' or ')
  if (status < 400) throw new Complaint('wrongly accepted', `accepted instead of ${wanted}`)
  if (request.method === 'HEAD') return expectStatusOf(expected, status)
  const { code, details = [] } = body as { code: string; details?: { field: string }[] }
  const named = [...new Set(details.map(({ field }) => field.split('.')[0] as string))].sort().join()
  const isRight = expected.some(
    (one) =>
      one.code === code &&
      status === ERRORS[code as ErrorCode].status &&
      (one.fields === undefined || one.fields.toSorted().join() === named),
  )
  if (!isRight) throw new Complaint('rejected with the wrong code or field', `not ${wanted}`)
}

/** Checks only the status, because a response to HEAD has no error code. */
function expectStatusOf(expected: Rejection[], status: number): void {
  const isRight = expected.some(({ code }) => ERRORS[code as ErrorCode].status === status)
  if (!isRight) throw new Complaint('rejected with the wrong code or field', 'another status')
}
