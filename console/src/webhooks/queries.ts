// What the pages about webhooks read and change. The event stream does not contain webhooks, so the pages ask again.
import type {
  CreatedWebhook,
  Delivery,
  NewWebhook,
  Page,
  Petstore,
  SecretRotation,
  Webhook,
  WebhookChanges,
} from '@petstore/client'
import { LIST_DELIVERIES, LIST_WEBHOOKS } from '@petstore/client/rules'
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { hasCode } from '../layout/describe-error.ts'
import { refreshEvery } from '../session/query-client.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { givenUpMessages } from './failed-messages.ts'

const REFRESHED_EVERY_MS = 3_000
/** A person waits for the result of a test event. */
const TEST_POLLED_EVERY_MS = 1_000
/** The max of the service for one request. */
const DELIVERIES_PAGE_SIZE = 30

export type Outcome = 'delivered' | 'failed' | 'given_up'

export function webhooksQuery(store: Petstore) {
  return queryOptions({
    queryKey: KEYS.webhooks,
    refetchInterval: refreshEvery(REFRESHED_EVERY_MS),
    // A store has at most 100 webhooks, unless its operator allows more.
    queryFn: async ({ signal }) => {
      const webhooks: Webhook[] = []
      for await (const webhook of store.webhooks.list({ limit: LIST_WEBHOOKS.limit.maximum }, { signal }))
        webhooks.push(webhook)
      return webhooks
    },
  })
}

/** Null if the webhook does not exist. */
export function webhookQuery(store: Petstore, id: string) {
  return queryOptions({
    queryKey: KEYS.webhook(id),
    refetchInterval: refreshEvery(REFRESHED_EVERY_MS),
    queryFn: async ({ signal }): Promise<Webhook | null> => {
      try {
        return await store.webhooks.get(id, { signal })
      } catch (error) {
        if (hasCode(error, 'webhook_not_found')) return null
        throw error
      }
    },
  })
}

export function deliveriesQuery(store: Petstore, id: string, outcome?: Outcome) {
  return infiniteQueryOptions({
    queryKey: KEYS.deliveries(id, outcome),
    queryFn: ({ pageParam: cursor, signal }): Promise<Page<Delivery>> =>
      store.webhooks.deliveries(id, { limit: DELIVERIES_PAGE_SIZE, outcome, cursor }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // A person who reads older attempts does not wait for new ones.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? REFRESHED_EVERY_MS : false),
  })
}

/** The messages that were given up since a time, oldest first. The service keeps the newest 10,000 attempts. */
export function givenUpMessagesQuery(store: Petstore, id: string, sinceMs: number) {
  return queryOptions({
    queryKey: KEYS.givenUpMessages(id, sinceMs),
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const attempts: Delivery[] = []
      for await (const attempt of store.webhooks.deliveries(
        id,
        { limit: LIST_DELIVERIES.limit.maximum },
        { signal },
      )) {
        if (Date.parse(attempt.at) < sinceMs) break
        attempts.push(attempt)
      }
      return givenUpMessages(attempts)
    },
  })
}

/** The first attempt of the test event that was sent after the delivery `afterId`; null until there is one. */
export function testResultQuery(store: Petstore, id: string, afterId: string) {
  return queryOptions({
    queryKey: KEYS.testResult(id, afterId),
    queryFn: async ({ signal }): Promise<Delivery | null> => {
      let found: Delivery | null = null
      for await (const delivery of store.webhooks.deliveries(
        id,
        { limit: LIST_DELIVERIES.limit.maximum },
        { signal },
      )) {
        if (BigInt(delivery.id) <= BigInt(afterId)) break
        if (delivery.kind === 'test' && delivery.attempt === 1) found = delivery
      }
      return found
    },
    refetchInterval: ({ state }) => (state.data ? false : TEST_POLLED_EVERY_MS),
  })
}

/** Sends a test event. Returns the id of the newest delivery before it, for `testResultQuery`. */
export function useSendTest(id: string) {
  const store = useStore()
  return useMutation({
    mutationFn: async () => {
      const [newest] = (await store.webhooks.deliveries(id, { limit: 1 }).page()).items
      await store.webhooks.sendTest(id)
      return newest?.id ?? '0'
    },
  })
}

/** `gcTime: 0` removes the secret from memory when its dialog closes. */
export function useCreateWebhook() {
  const store = useStore()
  const refresh = useRefreshWebhooks()
  return useMutation({
    gcTime: 0,
    mutationFn: (webhook: NewWebhook): Promise<CreatedWebhook> => store.webhooks.create(webhook),
    onSettled: refresh,
  })
}

export function useUpdateWebhook(id: string) {
  const store = useStore()
  const refresh = useRefreshWebhooks(id)
  return useMutation({
    mutationFn: (changes: WebhookChanges) => store.webhooks.update(id, changes),
    onSettled: refresh,
  })
}

export function useRotateSecret(id: string) {
  const store = useStore()
  return useMutation({
    gcTime: 0,
    mutationFn: (rotation: SecretRotation) => store.webhooks.rotateSecret(id, rotation),
  })
}

export function useDeleteWebhook(id: string) {
  const store = useStore()
  const refresh = useRefreshWebhooks()
  return useMutation({ mutationFn: () => store.webhooks.delete(id), onSettled: refresh })
}

export function useRedeliver(id: string) {
  const store = useStore()
  const refresh = useRefreshWebhooks(id)
  return useMutation({
    mutationFn: (deliveryId: string) => store.webhooks.redeliver(id, deliveryId),
    onSettled: refresh,
  })
}

/** Reads the list again, and the webhook with its deliveries if there is an id. */
export function useRefreshWebhooks(id?: string): () => Promise<unknown> {
  const cache = useQueryClient()
  return useCallback(
    () =>
      Promise.all([
        cache.invalidateQueries({ queryKey: KEYS.webhooks }),
        id !== undefined && cache.invalidateQueries({ queryKey: KEYS.webhook(id) }),
      ]),
    [cache, id],
  )
}
