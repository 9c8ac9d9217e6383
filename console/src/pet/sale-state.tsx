// The price and the status of the pet, and the buttons that hold, sell or release it.
import { Button, Kbd, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { Entry, Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { useTimedText } from '../layout/clock.ts'
import { dateTimeText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { clockText } from '../layout/hold-time.ts'
import { Loading } from '../layout/loading.tsx'
import { undoableEntry } from '../money/entry-lines.ts'
import { entriesOfPetQuery } from '../money/queries.ts'
import { HoldTint, StatusTint } from '../pets/status-tint.tsx'
import { signOf, subtract } from '../money/amounts.ts'
import { type Priced, priceText } from '../profile/price.ts'
import { profileQuery } from '../profile/queries.ts'
import { EndHoldButtons } from '../selling/end-hold-buttons.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { openOrderQuery, saleQuery } from '../selling/queries.ts'
import { openSellingDialog } from '../selling/selling-dialog-state.ts'
import { useSelling } from '../selling/use-selling.ts'
import { useScopes, useSession, useStore } from '../session/session.ts'

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
    <State status={<StatusTint status="available" />} price={profile} text={<UndoButton pet={pet} />}>
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

/** The sale of the pet: when, for how much, and to whom. */
function Sold({ pet }: { pet: Pet }) {
  const canRead = useScopes().has('orders:read')
  const { data: sale, error, refetch } = useQuery({ ...saleQuery(useStore(), pet.id), enabled: canRead })
  if (error !== null && sale === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (canRead && sale === undefined) return <Loading what="the sale" height={52} />
  const status = <StatusTint status="sold" />
  if (sale) return <SoldFor pet={pet} sale={sale} />
  const text = 'If the customer brings the pet back, choose Edit and set the status to Available.'
  return <State status={status} text={text} />
}

function SoldFor({ pet, sale }: { pet: Pet; sale: Order }) {
  const canCorrect = useScopes().has('till:write')
  const { price, netPrice = '0', currency, closedAt = '', note } = sale
  // A sale without a price counts 0 until it is corrected.
  const hasPrice = price !== undefined || signOf(netPrice) !== 0
  const isCorrected = netPrice !== price && price !== undefined
  return (
    <State
      status={<StatusTint status="sold" />}
      price={hasPrice ? { price: netPrice, currency } : undefined}
      text={
        <>
          Sold on {dateTimeText(closedAt)}
          {isCorrected && `, first for ${priceText(sale)}`}
          <OrderNote note={note} />
          <AnchorLink to="/receipt/$orderId" params={{ orderId: sale.id }} size="sm" underline="always">
            Receipt
          </AnchorLink>
          <UndoButton pet={pet} />
          {!canCorrect && (
            <Text size="xs" mt={4}>
              To correct the price or to take the pet back, you need the permission till:write.
            </Text>
          )}
        </>
      }
    >
      {canCorrect && (
        <>
          <Button
            size="md"
            variant="default"
            aria-haspopup="dialog"
            onClick={() => openSellingDialog({ action: 'correct', pet, order: sale })}
          >
            Correct price
          </Button>
          <Button
            size="md"
            variant="default"
            aria-haspopup="dialog"
            onClick={() => openSellingDialog({ action: 'takeBack', pet, order: sale })}
          >
            Take back
          </Button>
        </>
      )}
    </State>
  )
}

const UNDO_TEXTS: Partial<Record<Entry['kind'], string>> = {
  sale: 'Undo sale',
  correction: 'Undo correction',
  deposit: 'Undo deposit',
}

/** Undoes the last entry of the pet while that is possible. */
function UndoButton({ pet }: { pet: Pet }) {
  const { session, scopes } = useSession()
  const canRead = scopes.has('orders:read')
  const { data: entries = [] } = useQuery({ ...entriesOfPetQuery(useStore(), pet.id), enabled: canRead })
  const { undoEntry, isPending } = useSelling(pet)
  const who = { ownName: session?.own.name, isForAll: scopes.has('till:write') }
  const id = useTimedText((nowMs) => undoableEntry(entries, { nowMs, ...who })?.id ?? '')
  const entry = entries.find((one) => one.id === id)
  if (entry === undefined || !scopes.has('orders:write')) return null
  return (
    <Button
      size="xs"
      variant="light"
      className="undo-entry"
      disabled={isPending}
      onClick={() => undoEntry(entry)}
    >
      {UNDO_TEXTS[entry.kind] ?? (entry.pets < 0 ? 'Undo return' : 'Undo')}
    </Button>
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
          <SellButton price={dueOf(order)} onClick={sell} />
          <Button size="md" variant="default" disabled={isPending} onClick={() => release(order)}>
            Release
          </Button>
        </>
      )}
    </State>
  )
}

function HeldBy({ order }: { order: Order }) {
  const { placedBy, expiresAt, note, deposit, currency } = order
  const until = useTimedText((now) => clockText(expiresAt, now))
  return (
    <>
      <OrderNote note={note} />
      Held by {placedBy} until {until}
      {deposit !== undefined && <div>Deposit of {priceText({ price: deposit, currency })} paid</div>}
    </>
  )
}

/** What the customer still has to pay. No price if it is nothing, or less. */
function dueOf({ price, deposit = '0', currency }: Order): Priced {
  if (price === undefined) return {}
  const due = subtract(price, deposit)
  return signOf(due) > 0 ? { price: due, currency } : {}
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
