// Runs `petstore top`: one readings, or a screen that is drawn again after every scrape.
import { setTimeout as sleep } from 'node:timers/promises'
import { EXIT_TRY_LATER } from '../terminal/exit-codes.ts'
import { localClock, paint, print, say, visible } from '../terminal/terminal.ts'
import { openProcesses, type ProcessState } from './processes.ts'
import type { Readings } from './readings.ts'
import { openRecentProblems } from './recent-problems.ts'
import { openScreen, paintLine } from './screen.ts'
import { takeReadings } from './take-readings.ts'
import { drawSnapshot } from './view.ts'

/** The width of a readings if standard output is no terminal. */
const PLAIN_WIDTH = 80

export interface TopOptions {
  interval: number
  once?: boolean
  json?: boolean
}

/** Without a terminal there is nothing to redraw, so the command prints one readings. */
export async function runTop(addresses: readonly URL[], options: TopOptions): Promise<void> {
  if (options.once || options.json || !process.stdout.isTTY) await printSnapshot(addresses, options)
  else await watch(addresses, options)
}

async function printSnapshot(addresses: readonly URL[], { interval, json }: TopOptions): Promise<void> {
  const readAll = openProcesses(addresses, new AbortController().signal)
  const first = await readAll()
  // Without a response, there is nothing to compare a second scrape with.
  if (first.every(isDown)) return reportNone(first)
  await sleep(interval * 1_000)
  const processes = await readAll()
  if (processes.every(isDown)) return reportNone(processes)
  const readings = takeReadings(processes, new Date())
  if (json) return print(JSON.stringify(readings, round, 2).split('\n').map(visible).join('\n'))
  const width = process.stdout.columns || PLAIN_WIDTH
  for (const line of drawSnapshot(readings, { width, clock: localClock(readings.time) })) {
    print(paintLine(line).trimEnd())
  }
}

const isDown = ({ failure }: ProcessState) => failure !== undefined

function reportNone(processes: readonly ProcessState[]): void {
  say(paint('red', 'No instance returned its metrics.'))
  for (const { url, failure = '' } of processes) say(`  ${url}: ${visible(failure)}`)
  say('Pass the URL of the ADMIN_PORT of each process, such as: petstore top http://127.0.0.1:9091')
  process.exitCode = EXIT_TRY_LATER
}

/** Six digits are more than the buckets of a histogram can give. */
function round(_name: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}

async function watch(addresses: readonly URL[], { interval }: TopOptions): Promise<void> {
  const quit = new AbortController()
  const readAll = openProcesses(addresses, quit.signal)
  const findEnded = openRecentProblems()
  let readings: Readings | undefined
  const screen = openScreen({ onQuit: () => quit.abort(), onResize: draw })

  function draw(): void {
    if (readings === undefined) return
    const ended = findEnded(readings.problems, Date.now() / 1_000)
    const clock = localClock(readings.time)
    screen.draw(drawSnapshot(readings, { ...screen.size(), clock, keys: 'q: quit', ended }))
  }

  try {
    while (!quit.signal.aborted) {
      const startedAt = performance.now()
      const processes = await readAll()
      if (quit.signal.aborted) break
      readings = takeReadings(processes, new Date())
      draw()
      const restMs = Math.max(0, interval * 1_000 - (performance.now() - startedAt))
      // Rejects if the user quits.
      await sleep(restMs, undefined, { signal: quit.signal }).catch(() => {})
    }
  } finally {
    screen.close()
  }
}
