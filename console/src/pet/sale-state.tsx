// The price and the status of the pet, and the buttons that hold, sell or release it.
import { Button, Kbd, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { dateTimeText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { clockText } from '../layout/hold-time.ts'
import { Loading } from '../layout/loading.tsx'
import { HoldTint, StatusTint } from '../pets/status-tint.tsx'
import { type Priced, priceText } from '../profile/price.ts'
import { profileQuery } from '../profile/queries.ts'
import { EndHoldButtons } from '../selling/end-hold-buttons.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { openOrderQuery, saleQuery } from '../selling/queries.ts'
import { openSellingDialog } from '../selling/selling-dialog-state.ts'
import { useSelling } from '../selling/use-selling.ts'
import { useScopes, useStore } from '../session/session.ts'

export function SaleState({ pet }: { pet: Pet }) {
  const scopes = useScopes()
  const missing = ['orders:read', 'orders:write'].filter((scope) => !scopes.has(scope))
  return (
    <section aria-label="Sale">
      <ByStatus pet={pet} />
      {missing.length > 0 && (
        <Text size="xs" c="dimmed">
          Your key does not allow{' '}
          {missing.length === 2 ? 'holding and selling' : 'all of holding and selling'}. Ask your
          administrator for a key with {missing.length === 1 ? 'the permission' : 'the permissions'}{' '}
          {missing.join(' and ')}.
        </Text>
      )}
    </section>
  )
}

function ByStatus({ pet }: { pet: Pet }) {
  if (pet.status === 'available') return <ForSale pet={pet} />
  if (pet.status === 'pending') return <OnHold pet={pet} />
  return <Sold pet={pet} />
}

function ForSale({ pet }: { pet: Pet }) {
  const canSell = useScopes().has('orders:write')
  const { data: profile } = useQuery(profileQuery(useStore(), pet.id))
  const sell = () => openSellingDialog({ action: 'sell', pet })
  useHotkeys([
    ['s', () => canSell && sell()],
    ['h', () => canSell && openSellingDialog({ action: 'hold', pet })],
  ])
  return (
    <State status={<StatusTint status="available" />} price={profile}>
      {canSell && (
        <>
          <SellButton price={profile} onClick={sell} />
          <HoldButton pet={pet} size="md" variant="default">
            Hold
          </HoldButton>
        </>
      )}
    </State>
  )
}

/** The last sale of the pet: when, for how much, and who placed the order. The history shows who completed it. */
function Sold({ pet }: { pet: Pet }) {
  const canRead = useScopes().has('orders:read')
  const { data: sale, error, refetch } = useQuery({ ...saleQuery(useStore(), pet.id), enabled: canRead })
  const isBack = 'If the customer brings the pet back, choose Edit and set the status to Available.'
  if (error !== null && sale === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (canRead && sale === undefined) return <Loading what="the sale" height={52} />
  const status = <StatusTint status="sold" />
  if (!sale) return <State status={status} text={isBack} />
  const { placedBy, closedAt = '', note } = sale
  return (
    <State
      status={status}
      price={sale}
      text={
        <>
          Sold on {dateTimeText(closedAt)}, order placed by {placedBy}
          <OrderNote note={note} />
          <Text size="xs" mt={4}>
            {isBack}
          </Text>
        </>
      }
    />
  )
}

function OnHold({ pet }: { pet: Pet }) {
  const store = useStore()
  const canRead = useScopes().has('orders:read')
  const { data: order, error, refetch } = useQuery({ ...openOrderQuery(store, pet.id), enabled: canRead })
  const status = <StatusTint status="pending" />
  if (!canRead) return <State status={status} text="This pet is held for a customer." />
  if (error !== null && order === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (order === undefined) return <Loading what="the hold" height={52} />
  if (order !== null) return <Held pet={pet} order={order} />
  return (
    <State status={status} text="A person chose this status without a hold, so it has no end.">
      <EndHoldButtons pet={pet} order={undefined} size="md" />
    </State>
  )
}

function Held({ pet, order }: { pet: Pet; order: Order }) {
  const canSell = useScopes().has('orders:write')
  const { release, isPending } = useSelling(pet)
  const sell = () => openSellingDialog({ action: 'sell', pet, order })
  useHotkeys([['s', () => canSell && sell()]])
  return (
    <State status={<HoldTint expiresAt={order.expiresAt} />} price={order} text={<HeldBy order={order} />}>
      {canSell && (
        <>
          <SellButton price={order} onClick={sell} />
          <Button size="md" variant="default" disabled={isPending} onClick={() => release(order)}>
            Release
          </Button>
        </>
      )}
    </State>
  )
}

function HeldBy({ order: { placedBy, expiresAt, note } }: { order: Order }) {
  const until = useTimedText((now) => clockText(expiresAt, now))
  return (
    <>
      <OrderNote note={note} />
      Held by {placedBy} until {until}
    </>
  )
}

function OrderNote({ note }: { note: string | undefined }) {
  return note !== undefined && <div className="hold-note">{note}</div>
}

/** The label says what the customer pays. */
function SellButton({ price, onClick }: { price: Priced | undefined; onClick: () => void }) {
  const amount = price && priceText(price)
  return (
    <Button size="md" aria-haspopup="dialog" rightSection={<Kbd size="xs">S</Kbd>} onClick={onClick}>
      {amount === undefined ? 'Sell now' : `Sell for ${amount}`}
    </Button>
  )
}

interface StateProps {
  status: ReactNode
  price?: Priced | undefined
  text?: ReactNode
  children?: ReactNode
}

function State({ status, price, text, children }: StateProps) {
  const amount = price && priceText(price)
  return (
    <>
      <div className="ask">
        {amount !== undefined && <b>{amount}</b>}
        {status}
      </div>
      {text !== undefined && <div className="sale-text">{text}</div>}
      {children && <div className="sale-buttons">{children}</div>}
    </>
  )
}
