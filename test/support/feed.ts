// An application in the test process that numbers events and sends them to streams, as the service does.
import { afterAll } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { sequenceDueEvents } from '../../src/events/feed/sequencer.ts'
import { openEventStreams } from '../../src/events/feed/streams.ts'
import { startBackground } from '../../src/server/background.ts'
import { type ApiFixture, openApiFixtureOn } from './api-fixture.ts'
import { createTestDatabase, openTestDatabase } from './database.ts'
import { numberAllEvents } from './feed-audit.ts'
import { openTestLog } from './test-log.ts'

export interface Feed {
  api: ApiFixture
  db: Db
  /** Ends all streams, as a service does that shuts down. Later streams are rejected until `accept`. */
  drain: () => void
  accept: () => void
  /** Numbers all events. */
  sequence: () => Promise<void>
}

export async function openFeed(): Promise<Feed> {
  const databaseUrl = await createTestDatabase()
  const db = openTestDatabase(databaseUrl)
  let streams = openEventStreams({ db, max: 100 })
  const api = await openApiFixtureOn(databaseUrl, db, {
    eventStreams: {
      open: (...stream) => streams.open(...stream),
      hasOpen: () => streams.hasOpen(),
      advance: (state) => streams.advance(state),
      close: () => streams.close(),
    },
  })
  const work = async () => streams.advance(await sequenceDueEvents(db))
  const background = startBackground([{ name: 'sequence events', everyMs: 20, work }], openTestLog())
  afterAll(() => background.stop())
  return {
    api,
    db,
    drain: () => streams.close(),
    accept: () => {
      streams = openEventStreams({ db, max: 100 })
    },
    sequence: () => numberAllEvents(db),
  }
}
