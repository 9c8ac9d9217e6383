// The deposits of orders that have ended without a sale. Each is given back or kept: the service never decides that.
import { Button, Group, Text, Title } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { dateTimeText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useOnceKey } from '../money/once-key.ts'
import { drawingOf, PetThumb } from '../pets/drawings.tsx'
import { categoriesQuery, orderedPetsQuery } from '../pets/queries.ts'
import { subtract } from '../money/amounts.ts'
import { amountText, priceText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import { OrderNote } from './order-note.tsx'
import { depositsQuery } from './queries.ts'
import { openSellingDialog } from './selling-dialog-state.ts'
import { useSelling } from './use-selling.ts'

export function Deposits() {
  const store = useStore()
  const { data: deposits, error, refetch } = useQuery(depositsQuery(store))
  const orders = deposits?.orders ?? []
  const petIds = orders.map(({ petId }) => petId)
  const { data: pets } = useQuery({ ...orderedPetsQuery(store, petIds), enabled: petIds.length > 0 })
  if (error !== null && deposits === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (deposits === undefined || (orders.length === 0 && deposits.missing.length === 0)) return null
  return (
    <section aria-labelledby="deposits">
      <Title order={2} size="h3" id="deposits" className="deposits-title">
        Deposits to settle
      </Title>
      <div role="list" aria-labelledby="deposits" className="deposits">
        {orders.map((order) => (
          <DepositRow key={order.id} order={order} pet={pets?.[order.petId]} />
        ))}
      </div>
      {deposits.missing.map((amount) => (
        <Text key={amount.currency} c="dimmed" size="sm" p="md">
          Older orders hold {amountText(amount)} more. To find them, list the entries of the kind deposit in
          the API.
        </Text>
      ))}
    </section>
  )
}

function DepositRow({ order, pet }: { order: Order; pet: Pet | undefined }) {
  const { petId, note } = order
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  return (
    <div className="list-row hold-row" role="listitem" id={`deposit-${order.id}`} tabIndex={-1}>
      <PetThumb shown={drawingOf(categories, pet?.categoryId)} />
      <div className="name">
        <AnchorLink to="/pets/$petId" params={{ petId }} underline="hover" title={pet?.name}>
          {pet?.name ?? `No. ${petId}`}
        </AnchorLink>
        <span className="second">No. {petId}</span>
      </div>
      <div className="for">
        <OrderNote note={note} />
        <span className="second">{endText(order)}</span>
      </div>
      <div className="status" />
      <div className="amount">{priceText({ ...order, price: order.deposit })}</div>
      <div className="action">{pet && <SettleButtons order={order} pet={pet} />}</div>
    </div>
  )
}

/** How the order ended, such as "Released 14 Nov 2026, 16:12". */
function endText({ status, closedAt, broughtBackAt }: Order): string {
  const ends: Partial<Record<Order['status'], string>> = {
    cancelled: 'Released',
    expired: 'Time ran out',
    completed: 'Sale undone',
  }
  return `${ends[status] ?? 'Ended'} ${dateTimeText(broughtBackAt ?? closedAt ?? '')}`
}

function SettleButtons({ order, pet }: { order: Order; pet: Pet }) {
  const { settleDeposit, isPending } = useSelling(pet)
  const onceKey = useOnceKey()
  const { deposit = '0', currency } = order
  if (!useScopes().has('orders:write')) return null

  function keep(): void {
    const values = { amount: subtract(deposit, deposit), currency, method: undefined }
    settleDeposit(order, { ...values, idempotencyKey: onceKey(values) })
  }

  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="xs"
        variant="subtle"
        aria-label={`Keep the deposit for ${pet.name}`}
        disabled={isPending}
        onClick={keep}
      >
        Keep
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={`Give back the deposit for ${pet.name}`}
        aria-haspopup="dialog"
        disabled={isPending}
        onClick={() => openSellingDialog({ action: 'settle', pet, order })}
      >
        Give back
      </Button>
    </Group>
  )
}
