// The open holds: for whom, until when, and what to do with each. The hold that ends first is at the top. Below them are the
// deposits of orders that have ended.
import './holds.css'
import { Alert, Group, Stack, Text } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { Page } from '../layout/page.tsx'
import { useHasChanged } from '../live/live-feed.tsx'
import { drawingOf, PetThumb } from '../pets/drawings.tsx'
import { FROM_HOLDS } from '../pets/last-list.ts'
import { categoriesQuery, orderedPetsQuery } from '../pets/queries.ts'
import { priceText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import { Deposits } from './deposits.tsx'
import { EndHoldButtons } from './end-hold-buttons.tsx'
import { depositText } from './deposit-text.ts'
import { OrderNote } from './order-note.tsx'
import { HOLDS_MAX, openHoldsQuery } from './queries.ts'
import { HoldTint } from '../pets/status-tint.tsx'

export function HoldsPage() {
  const canRead = useScopes().has('orders:read')
  const { data: holds } = useQuery({ ...openHoldsQuery(useStore()), enabled: canRead })
  return (
    <Page
      title="Holds"
      count={holds && `${holds.orders.length}${holds.hasMore ? '+' : ''}`}
      actions={<span className="second">The next end first</span>}
      isFlush
    >
      {canRead ? (
        <>
          <Holds />
          <Deposits />
        </>
      ) : (
        <NotAllowed />
      )}
    </Page>
  )
}

function Holds() {
  const store = useStore()
  const { data: holds, error, refetch } = useQuery(openHoldsQuery(store))
  const petIds = holds?.orders.map(({ petId }) => petId) ?? []
  const { data: pets } = useQuery({ ...orderedPetsQuery(store, petIds), enabled: petIds.length > 0 })
  if (holds === undefined) {
    return error === null ? (
      <Loading what="holds" height={57} rows={5} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  }
  if (holds.orders.length === 0) return <NoHolds />
  return (
    <>
      <div className="list-head hold-row" aria-hidden="true">
        <span />
        <span>Pet</span>
        <span>For</span>
        <span>Time</span>
        <span className="amount">Price</span>
        <span />
      </div>
      <div role="list" aria-label="Holds">
        {holds.orders.map((order) => (
          <HoldRow key={order.id} order={order} pet={pets?.[order.petId]} />
        ))}
      </div>
      {holds.hasMore && (
        <Text c="dimmed" size="sm" p="md">
          This page shows {HOLDS_MAX} holds. To find another one, search for the pet.
        </Text>
      )}
    </>
  )
}

function HoldRow({ order, pet }: { order: Order; pet: Pet | undefined }) {
  const hasChanged = useHasChanged(order.petId)
  const { petId, note, placedBy, expiresAt } = order
  const deposit = depositText(order)
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  return (
    <div
      className="list-row hold-row"
      role="listitem"
      data-status="pending"
      data-changed={hasChanged || undefined}
    >
      <PetThumb shown={drawingOf(categories, pet?.categoryId)} />
      <div className="name">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId }}
          state={FROM_HOLDS}
          id={`pet-${petId}`}
          underline="hover"
          title={pet?.name}
        >
          {pet?.name ?? `No. ${petId}`}
        </AnchorLink>
        <span className="second">No. {petId}</span>
      </div>
      <div className="for">
        <OrderNote
          note={deposit === undefined ? note : `${note === undefined ? '' : `${note} · `}${deposit}`}
        />
        <span className="second">Held by {placedBy}</span>
      </div>
      <div className="status">
        <HoldTint expiresAt={expiresAt} />
      </div>
      <div className="amount">{priceText(order)}</div>
      <div className="action">{pet && <EndHoldButtons pet={pet} order={order} />}</div>
    </div>
  )
}

function NoHolds() {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>No pet is held for a customer</Text>
      <Text c="dimmed" ta="center" maw={420}>
        To hold a pet for a customer, choose “Hold” in the list of pets. It appears here with the time that is
        left.
      </Text>
      <Group>
        <AnchorLink to="/" search={{ status: 'available' }}>
          Show available pets
        </AnchorLink>
        {/* A pet without an end of its hold is not on this page: a person or program has set only its status. */}
        <AnchorLink to="/" search={{ status: 'pending' }}>
          Show pets on hold
        </AnchorLink>
      </Group>
    </Stack>
  )
}

function NotAllowed() {
  return (
    <Alert color="gray" mx="lg" title="Your key does not allow this page">
      Ask your administrator for a key with the permission orders:read.
    </Alert>
  )
}
