// A link to the receipt of the last sale, to see the shop's own text on paper.
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'

export function LastReceipt() {
  const store = useStore()
  const { data: order } = useQuery({
    queryKey: KEYS.lastSale,
    queryFn: async ({ signal }) => {
      const { items } = await store.orders.list({ status: 'completed', limit: 1 }, { signal }).page()
      return items[0] ?? null
    },
    enabled: useScopes().has('orders:read'),
  })
  if (!order) return null
  return (
    // In another tab, because what was entered here may not be saved.
    <AnchorLink to="/receipt/$orderId" params={{ orderId: order.id }} target="_blank" underline="always">
      Show a receipt
    </AnchorLink>
  )
}
