// Whether a pet can be deleted. The service keeps every pet that was ever held or sold, also if it is available again.
import type { Pet, Petstore } from '@petstore/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'

function hasOrdersQuery(store: Petstore, petId: string) {
  return queryOptions({
    queryKey: KEYS.hasOrders(petId),
    queryFn: async ({ signal }) =>
      (await store.orders.list({ petId, limit: 1 }, { signal }).page()).items.length > 0,
  })
}

export function useCanDelete({ id, status }: Pet): boolean {
  const scopes = useScopes()
  const canWrite = scopes.has('pets:write')
  const canRead = scopes.has('orders:read')
  const { data: hasOrders } = useQuery({ ...hasOrdersQuery(useStore(), id), enabled: canWrite && canRead })
  // Without the permission to read orders, only the status tells.
  return canWrite && (canRead ? hasOrders === false : status === 'available')
}
