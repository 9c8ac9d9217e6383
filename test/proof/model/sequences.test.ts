// Random sequences of calls on two instances return what the reference model returns, and leave the same state.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordFigures } from '../figures.ts'
import { ATTEMPTS_MAX, countedLate } from '../late.ts'
import { replayWith, SCALE, SEED } from '../seed.ts'
import { apiKeyCommands } from './commands/api-keys.ts'
import type { Command } from './commands/choices.ts'
import { eventCommands } from './commands/events.ts'
import { listCommands } from './commands/lists.ts'
import { orderCommands } from './commands/orders.ts'
import { petChangeCommands } from './commands/pet-changes.ts'
import { petCommands } from './commands/pets.ts'
import { profileCommands } from './commands/profiles.ts'
import { settingsCommands } from './commands/settings.ts'
import { tillCommands } from './commands/till.ts'
import { timeCommands } from './commands/time.ts'
import { webhookCommands } from './commands/webhooks.ts'
import { REJECTIONS } from './reference/store.ts'
import { shorten } from './shorten.ts'
import { compareWholeState } from './whole-state.ts'
import { openFixture, openSession, settle, UnknownOutcome } from './fixture.ts'

const FILE = 'test/proof/model/sequences.test.ts'
const SEQUENCES = 100
/** Some error codes are rare. Until each of them was returned, further sequences run, up to this many times the number. */
const MORE_MAX = 10
const COMMANDS_MAX = 120
const COMMANDS_MIN = 4_000
/** How long fast-check may simplify a failing sequence, and how long `shorten` may then shorten it. */
const SHRINK_MS = 20_000
/** The path of one sequence in the run of a seed. A failure prints it. */
const PATH = process.env['PROOF_PATH']

const sequence = fc.array(
  fc.oneof(
    ...petCommands,
    ...petChangeCommands,
    ...profileCommands,
    ...orderCommands,
    ...tillCommands,
    ...listCommands,
    ...eventCommands,
    ...apiKeyCommands,
    ...webhookCommands,
    ...settingsCommands,
    ...timeCommands,
  ),
  { maxLength: COMMANDS_MAX, size: 'max' },
)

test('two instances return what the model returns, for any sequence of calls', async () => {
  const fixture = await openFixture()
  const counted = { sequences: 0, commands: 0, 'sequences that differ from the model': 0 }
  let hasFailed = false
  let giveUpAt = Number.POSITIVE_INFINITY
  const operations = operationsOfInterface().sort()
  const codes = Object.keys(REJECTIONS).sort()
  /** A part of a run need not reach everything. */
  const isPart = SCALE < 1 || PATH !== undefined
  const isEnough = () =>
    counted.sequences >= SEQUENCES * SCALE &&
    (isPart || (fixture.called.size === operations.length && fixture.rejections.size === codes.length))

  /** Starts again if an outcome is unknown because the host is busy. */
  async function run(commands: readonly Command[], attempt = 1): Promise<void> {
    if (performance.now() > giveUpAt || (!hasFailed && isEnough())) return
    try {
      await runOnce(commands)
    } catch (error) {
      if (!(error instanceof UnknownOutcome) || attempt === ATTEMPTS_MAX) throw error
      await settle(fixture)
      await run(commands, attempt + 1)
    }
  }

  async function runOnce(commands: readonly Command[]): Promise<void> {
    const session = await openSession(fixture)
    try {
      for (const command of commands) {
        const before = session.calls.length
        await command(session)
        // Count only commands that call the service, and none while a failure is shrunk.
        if (session.calls.length > before && !hasFailed) counted.commands += 1
      }
      await compareWholeState(session)
      if (!hasFailed) counted.sequences += 1
    } catch (error) {
      if (error instanceof UnknownOutcome) throw error
      if (!hasFailed) giveUpAt = performance.now() + SHRINK_MS
      hasFailed = true
      const calls = session.calls.map((call, index) => `${String(index + 1).padStart(4)}. ${call}`)
      const logged = session.kept.lines().map((line) => `\nlog: ${line}`)
      throw new Error(
        `${(error as Error).message}\n\nThe last of these calls failed:\n${calls.join('\n')}\n${logged.join('')}`,
        { cause: error },
      )
    }
  }

  try {
    const result = await fc.check(
      fc.asyncProperty(sequence, (commands) => run(commands)),
      {
        seed: SEED,
        numRuns: Math.ceil(SEQUENCES * SCALE) * MORE_MAX,
        ...(PATH !== undefined && { path: PATH, endOnFailure: true }),
      },
    )
    if (result.failed) {
      counted['sequences that differ from the model'] += 1
      giveUpAt = performance.now() + SHRINK_MS
      let { message } = result.errorInstance as Error
      await shorten(result.counterexample?.[0] ?? [], async (fewer) => {
        const failure = await run(fewer).catch((error: Error) => error)
        message = failure?.message ?? message
        return failure !== undefined
      })
      const replay = `PROOF_PATH=${result.counterexamplePath} ${replayWith(FILE)}`
      throw new Error(`${message}\n\nTo reproduce:\n${replay}`)
    }
    // Guards the test itself: every operation was called, and every error code returned.
    if (!isPart) {
      expect([...fixture.called.keys()].sort()).toEqual(operations)
      expect([...fixture.rejections].sort()).toEqual(codes)
      expect(counted.commands).toBeGreaterThanOrEqual(COMMANDS_MIN * SCALE)
    }
  } finally {
    const calls = [...fixture.called.values()].reduce((sum, count) => sum + count, 0)
    recordFigures('model', {
      ...counted,
      'responses compared': calls,
      'operations called': fixture.called.size,
      'error codes returned': fixture.rejections.size,
      ...countedLate(),
    })
    console.log(`sequences, seed ${SEED}`, counted, countedLate())
  }
})

function operationsOfInterface(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../../openapi.json'), 'utf8')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  return Object.values(paths).flatMap((verbs) => Object.values(verbs).map(({ operationId }) => operationId))
}
