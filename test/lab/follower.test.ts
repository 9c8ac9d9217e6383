// The follower of the event feed against a small HTTP server whose feed loses or changes events.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openClient } from '../../lab/load/client.ts'
import type { FeedEvent } from '../../lab/load/feed-log.ts'
import { type Follower, startFollower } from '../../lab/load/feed-follower.ts'
import { openActivity } from '../../lab/parts/activity.ts'
import { createRandom } from '../../lab/parts/random.ts'
import { collectViolations, type Violations } from '../../lab/parts/violations.ts'

const EPOCH = '3f1c9a52be07'
const FIRST = 2
const PAGE = 2

const created = (petId: number, name = `run-k${petId}`): FeedEvent => ({
  position: `${EPOCH}-${petId + FIRST - 1}`,
  type: 'pet.created',
  occurredAt: '2026-11-15T10:00:00.000Z',
  petId,
  pet: { name, categoryId: 1, status: 'available' },
})

/** Serves `feed` two events at a time, and rejects positions after its end (410). Every fifth response is 503. */
async function followFeed(
  feed: FeedEvent[],
): Promise<{ follower: Follower; violations: Violations; kinds: () => string[] }> {
  let requests = 0
  const server = createServer(({ url = '' }, response) => {
    requests += 1
    const after = new URL(url, 'http://feed').searchParams.get('after')
    const skipped = after === null ? 0 : Number(after.split('-')[1]) - FIRST + 1
    if (requests % 5 === 0) response.writeHead(503, { 'retry-after': '0' }).end('{"code":"unavailable"}')
    else if (skipped > feed.length) response.writeHead(410).end('{"code":"events_expired"}')
    else {
      const page = feed.slice(skipped, skipped + PAGE)
      const next = `${EPOCH}-${FIRST - 1 + skipped + page.length}`
      response.writeHead(200, { link: `<http://feed/v1/events?after=${next}>; rel="next"` })
      response.end(JSON.stringify(page))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const violations = collectViolations(() => {})
  const { port } = server.address() as AddressInfo
  const client = openClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', violations })
  const follower = startFollower({ client, random: createRandom(1), activity: openActivity(), violations })
  onTestFinished(async () => {
    await follower.stop()
    client.close()
    server.close()
  })
  const kinds = () =>
    violations
      .summary()
      .filter(({ count }) => count > 0)
      .map(({ kind }) => kind)
  expect(await follower.waitUntilQuiet(5_000)).toBe(true)
  return { follower, violations, kinds }
}

test('follows the feed through pages and failures, and reads the same events again', async () => {
  const feed = [created(1), created(2), created(3)]
  const { follower, kinds } = await followFeed(feed)
  const middle = follower.next
  feed.push(created(4), created(5))
  expect(await follower.waitUntilQuiet(5_000)).toBe(true)
  expect(follower.events).toBe(5)
  expect(follower.mirror.wasCreated(5)).toBe(true)
  expect(await follower.readAgain()).toBe(5)
  expect(await follower.readAgain(middle)).toBe(2)
  expect(await follower.readAgain(follower.next)).toBe(0)
  expect(kinds()).toEqual([])
})

test('reports an event that contradicts an earlier one', async () => {
  const { kinds } = await followFeed([created(1), { ...created(2), petId: 1 }])
  expect(kinds()).toEqual(['eventUnexpected'])
})

test('reports an event that changed after it was read', async () => {
  const feed = [created(1), created(2), created(3)]
  const { follower, kinds } = await followFeed(feed)
  feed[1] = created(2, 'another name')
  await follower.readAgain()
  expect(kinds()).toEqual(['eventChanged'])
})

test('reports a feed whose first event is missing when it is read again', async () => {
  const feed = [created(1), created(2), created(3)]
  const { follower, kinds } = await followFeed(feed)
  feed.splice(0, 1)
  feed.push(created(4))
  await follower.readAgain()
  expect(kinds()).toContain('feedGap')
})

test('reports events that were lost after they were read, and follows the feed from its start', async () => {
  const feed = [created(1), created(2), created(3)]
  const { follower, violations, kinds } = await followFeed(feed)
  feed.splice(1, 2)
  expect(await follower.waitUntilQuiet(5_000)).toBe(true)
  expect(kinds()).toEqual(['feedExpired'])
  expect([follower.events, follower.mirror.wasCreated(2)]).toEqual([1, false])
  // The numbers of the lost events are given to other events.
  feed.push(created(2, 'another name'), created(3))
  expect(await follower.waitUntilQuiet(5_000)).toBe(true)
  expect(kinds()).toEqual(['eventChanged', 'feedExpired'])
  expect(violations.count()).toBe(2)
})
