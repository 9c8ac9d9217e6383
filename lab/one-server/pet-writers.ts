// Clients of a store on one server that create pets through HAProxy, and a journal of what they sent.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openClient } from '../load/client.ts'
import { newContext } from '../load/context.ts'
import { emptyHistory, openHistoryFile } from '../load/history.ts'
import { unkeyedWriter } from '../load/writers.ts'
import { openActivity } from '../parts/activity.ts'
import { createRandom } from '../parts/random.ts'
import { collectViolations } from '../parts/violations.ts'
import { Journal } from '../restore/journal.ts'
import type { Machine } from './machine.ts'

const HTTPS_PORT = 443
const WRITERS = 4
/** About 50 pets per second. */
const PACE_FACTOR = 2

export interface PetWriters {
  journal: Journal
  /** Lets each writer finish its request. */
  stop: () => Promise<void>
}

export interface PetWritersOptions {
  machine: Machine
  apiKey: string
  /** Of the names of all pets. */
  prefix: string
  logFolder: string
}

/** Starts writers that send each request once, also while the service is not available. */
export async function startPetWriters(options: PetWritersOptions): Promise<PetWriters> {
  const { machine, apiKey, prefix, logFolder } = options
  // The journal decides what is lost. A service without its database has other responses than the documented ones, and the
  // ids of lost pets are given again.
  const violations = collectViolations(() => {})
  const client = openClient({
    baseUrl: `https://127.0.0.1:${await machine.forwardPort(HTTPS_PORT)}`,
    apiKey,
    violations,
    trusted: {
      ca: readFileSync(join(machine.root, 'etc/haproxy/test.pem'), 'utf8'),
      servername: 'shop.example',
    },
  })
  const journal = new Journal()
  const historyFile = openHistoryFile(join(logFolder, `${prefix}history.jsonl`), (error) => {
    throw error
  })
  const context = newContext({
    client: {
      ...client,
      send: async (operation, request) => {
        const onReply = journal.observe(operation, request)
        const reply = await client.send(operation, request)
        onReply(reply)
        return reply
      },
    },
    history: emptyHistory(prefix),
    historyFile,
    activity: openActivity(),
    lag: { acknowledge: () => {} },
    violations,
  })
  context.paceFactor = PACE_FACTOR
  const writing = Promise.all(
    Array.from({ length: WRITERS }, (_, index) => unkeyedWriter(context, createRandom(index, prefix), index)),
  )
  return {
    journal,
    stop: async () => {
      context.stopping = true
      await writing
      client.close()
      await historyFile.close()
    },
  }
}
