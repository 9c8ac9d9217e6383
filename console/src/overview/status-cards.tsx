// How many pets are available, on hold and sold. Each card opens the list of these pets.
import { Skeleton, Text } from '@mantine/core'
import type { Counts } from '@petstore/client'
import { Link } from '@tanstack/react-router'
import { STATUSES } from '../pets/filters.ts'
import { statusText } from '../pets/status-tint.tsx'
import { petsIn, shareText } from '../pets/category-order.ts'
import { countText } from './day-chart-shape.ts'

const CARD_HEIGHT_PX = 118

export function StatusCards({ counts }: { counts: Counts | undefined }) {
  if (counts === undefined) {
    return (
      <div className="status-cards" aria-busy="true" aria-label="Loading the numbers of pets" role="status">
        {STATUSES.map((status) => (
          <Skeleton key={status} height={CARD_HEIGHT_PX} />
        ))}
      </div>
    )
  }
  const all = petsIn(counts)
  return (
    <nav className="status-cards" aria-label="Pets by status">
      {STATUSES.map((status) => (
        <Link key={status} to="/" search={{ status }} className="status-card">
          <Text size="sm" c="dimmed" component="div">
            <span className={`status-mark status-fill-${status}`} aria-hidden="true" /> {statusText(status)}
          </Text>
          <div className="number">{countText(counts[status])}</div>
          <Text size="xs" c="dimmed">
            {shareText(counts[status], all)} of pets
          </Text>
        </Link>
      ))}
    </nav>
  )
}
