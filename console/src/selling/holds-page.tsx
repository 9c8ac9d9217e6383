// The open holds: for whom, until when, and what to do with each. The hold that ends first is at the top.
import { Alert, Group, Stack, Text, Title } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { useHasChanged } from '../live/live-feed.tsx'
import { orderedPetsQuery } from '../pets/queries.ts'
import { priceText } from '../profile/price.ts'
import { useScopes, useStore } from '../session/session.ts'
import { EndHoldButtons } from './end-hold-buttons.tsx'
import { clockText } from '../layout/hold-time.ts'
import { OrderNote } from './order-note.tsx'
import { HOLDS_MAX, openHoldsQuery } from './queries.ts'
import { TimeLeft } from './time-left.tsx'

export function HoldsPage() {
  usePageTitle('Holds')
  const canRead = useScopes().has('orders:read')
  return (
    <Stack>
      <div>
        <Title order={1} size="h2">
          Holds
        </Title>
        <Text c="dimmed" size="sm">
          Pets that are held for a customer. The hold that ends first is at the top.
        </Text>
      </div>
      {canRead ? <Holds /> : <NotAllowed />}
    </Stack>
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
      <div role="list" aria-label="Holds">
        {holds.orders.map((order) => (
          <HoldRow key={order.id} order={order} pet={pets?.[order.petId]} />
        ))}
      </div>
      {holds.hasMore && (
        <Text c="dimmed" size="sm">
          This page shows {HOLDS_MAX} holds. To find another one, search for the pet.
        </Text>
      )}
    </>
  )
}

function HoldRow({ order, pet }: { order: Order; pet: Pet | undefined }) {
  const hasChanged = useHasChanged(order.petId)
  const { petId, note, placedBy, expiresAt } = order
  const price = priceText(order)
  return (
    <div
      className="list-row hold-row"
      role="listitem"
      data-status="pending"
      data-changed={hasChanged || undefined}
    >
      <div className="name">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId }}
          id={`pet-${petId}`}
          fw={600}
          underline="hover"
          display="block"
          truncate
          title={pet?.name}
        >
          {pet?.name ?? `No. ${petId}`}
        </AnchorLink>
        <Text size="xs" c="dimmed">
          No. {petId} · held by {placedBy}
          {price !== undefined && ` · ${price}`}
        </Text>
      </div>
      <OrderNote note={note} />
      <div className="status">
        <TimeLeft expiresAt={expiresAt} size="sm" />
        <Text size="xs" c="dimmed">
          until {clockText(expiresAt, Date.now())}
        </Text>
      </div>
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
    <Alert color="gray" title="Your key does not allow this page">
      Ask your administrator for a key with the permission orders:read.
    </Alert>
  )
}
