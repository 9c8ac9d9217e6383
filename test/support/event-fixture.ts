// Shared by the tests of the event feed.
import { expect } from 'vitest'
import type { Order } from './api-fixture.ts'
import type { TestResponse } from './client.ts'
import type { Pet } from './pets.ts'

export interface FeedEvent {
  position: string
  type: string
  occurredAt: string
  petId: number | bigint
  pet?: Pet
  changed?: string[]
  profile?: Record<string, unknown>
  order?: Order
  actor?: string
  requestId?: string
}

/** The position after the page, from its `Link` header. */
export function positionOf(page: TestResponse): string {
  const [, link = ''] = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? []
  const position = new URL(link, 'http://localhost').searchParams.get('after') ?? ''
  expect(position).toMatch(/^[0-9a-f]{12}-\d+$/)
  return position
}
