// Holds, sells and releases the pet, or says why that is not possible.
import { Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTimedText } from '../layout/clock.ts'
import { dateTimeText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { type Priced, priceText } from '../profile/price.ts'
import { profileQuery } from '../profile/queries.ts'
import { EndHoldButtons } from '../selling/end-hold-buttons.tsx'
import { HoldButton } from '../selling/hold-button.tsx'
import { clockText } from '../layout/hold-time.ts'
import { openOrderQuery, saleQuery } from '../selling/queries.ts'
import { openSellingDialog } from '../selling/selling-dialog-state.ts'
import { TimeLeft } from '../selling/time-left.tsx'
import { useScopes, useStore } from '../session/session.ts'

export function SaleCard({ pet }: { pet: Pet }) {
  const scopes = useScopes()
  const missing = ['orders:read', 'orders:write'].filter((scope) => !scopes.has(scope))
  return (
    <Card withBorder component="section" aria-label="Sale" className="sale-card">
      <SaleState pet={pet} />
      {missing.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          Your key does not allow{' '}
          {missing.length === 2 ? 'holding and selling' : 'all of holding and selling'}. Ask your
          administrator for a key with {missing.length === 1 ? 'the permission' : 'the permissions'}{' '}
          {missing.join(' and ')}.
        </Text>
      )}
    </Card>
  )
}

function SaleState({ pet }: { pet: Pet }) {
  if (pet.status === 'available') return <ForSale pet={pet} />
  if (pet.status === 'pending') return <OnHold pet={pet} />
  return <Sold pet={pet} />
}

function ForSale({ pet }: { pet: Pet }) {
  const canSell = useScopes().has('orders:write')
  const { data: profile } = useQuery(profileQuery(useStore(), pet.id))
  return (
    <State
      title={withPrice('For sale', profile)}
      text={canSell ? 'Hold the pet for a customer, or sell it now.' : 'This pet is available.'}
    >
      {canSell && (
        <>
          <HoldButton pet={pet} size="sm">
            Hold
          </HoldButton>
          <Button aria-haspopup="dialog" onClick={() => openSellingDialog({ action: 'sell', pet })}>
            Sell now
          </Button>
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
  if (!sale) return <State title="Sold" text={isBack} />
  const { placedBy, closedAt = '', note } = sale
  return (
    <State
      title={withPrice('Sold', sale)}
      text={
        <>
          Sold on {dateTimeText(closedAt)}, order placed by {placedBy}
          <OrderNote note={note} />
          <Text size="sm" mt={4}>
            {isBack}
          </Text>
        </>
      }
    />
  )
}

/** Such as "For sale, €129.00". */
function withPrice(text: string, priced: Priced | undefined): string {
  const price = priced && priceText(priced)
  return price === undefined ? text : `${text}, ${price}`
}

function OnHold({ pet }: { pet: Pet }) {
  const store = useStore()
  const canRead = useScopes().has('orders:read')
  const { data: order, error, refetch } = useQuery({ ...openOrderQuery(store, pet.id), enabled: canRead })
  if (!canRead) return <State title="On hold" text="This pet is held for a customer." />
  if (error !== null && order === undefined)
    return <ErrorMessage error={error} onRetry={() => void refetch()} />
  if (order === undefined) return <Loading what="the hold" height={52} />
  if (order === null) {
    return (
      <State title="On hold" text="A person chose this status without a hold, so it has no end.">
        <EndHoldButtons pet={pet} order={undefined} size="sm" />
      </State>
    )
  }
  return (
    <State
      title={
        <>
          {withPrice('On hold', order)}, <TimeLeft expiresAt={order.expiresAt} size="inherit" />
        </>
      }
      text={<HeldBy order={order} />}
    >
      <EndHoldButtons pet={pet} order={order} size="sm" />
    </State>
  )
}

function HeldBy({ order: { placedBy, expiresAt, note } }: { order: Order }) {
  const until = useTimedText((now) => clockText(expiresAt, now))
  return (
    <>
      Held by {placedBy} until {until}
      <OrderNote note={note} />
    </>
  )
}

function OrderNote({ note }: { note: string | undefined }) {
  if (note === undefined) return null
  return (
    <Text size="sm" mt={4} className="hold-note">
      {note}
    </Text>
  )
}

interface StateProps {
  title: ReactNode
  text: ReactNode
  children?: ReactNode
}

function State({ title, text, children }: StateProps) {
  return (
    <Group justify="space-between" gap="md">
      <Stack gap={2} flex="1 1 16rem">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text component="div" size="sm" c="dimmed">
          {text}
        </Text>
      </Stack>
      <Group gap="xs" className="sale-buttons">
        {children}
      </Group>
    </Group>
  )
}
