// The holds that end next, with the time that is left.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { HoldTint } from '../pets/status-tint.tsx'
import { useStore } from '../session/session.ts'
import { type NextHold, nextHoldsQuery } from './queries.ts'
import { LoadingSection, Section } from '../layout/section.tsx'

const TITLE = 'Holds that end next'

export function NextHolds() {
  const { data: holds, error, isPending, refetch } = useQuery(nextHoldsQuery(useStore()))
  if (isPending) return <LoadingSection title={TITLE} height={260} />
  if (holds === undefined) {
    return (
      <Section isCard title={TITLE}>
        {error && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      </Section>
    )
  }
  const allHolds = (
    <AnchorLink to="/holds" size="sm" py={12} flex="none">
      All holds
    </AnchorLink>
  )
  return (
    <Section isCard title={TITLE} action={allHolds}>
      {holds.length === 0 ? (
        <Text c="dimmed" size="sm">
          No pet is on hold for a customer. To hold one, choose “Hold” in the list of pets.
        </Text>
      ) : (
        <ol className="hold-rows">
          {holds.map((hold) => (
            <HoldRow key={hold.order.id} hold={hold} />
          ))}
        </ol>
      )}
    </Section>
  )
}

function HoldRow({ hold: { order, petName } }: { hold: NextHold }) {
  return (
    <li>
      <div className="pet">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId: order.petId }}
          fw={600}
          size="sm"
          display="block"
          truncate
        >
          {petName ?? `Pet no. ${order.petId}`}
        </AnchorLink>
        <Text size="xs" c="dimmed" truncate>
          {order.note ?? `Held by ${order.placedBy}`}
        </Text>
      </div>
      <HoldTint expiresAt={order.expiresAt} />
    </li>
  )
}
