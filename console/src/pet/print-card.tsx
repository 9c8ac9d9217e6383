// The card that is printed for a pet, for example for its cage. It is not visible on the screen.
import type { Pet } from '@petstore/client'
import { statusText } from '../pets/status-badge.tsx'

export function PrintCard({ pet, category }: { pet: Pet; category: string }) {
  return (
    <div className="print-only pet-card" aria-hidden="true">
      <p className="pet-card-name">{pet.name}</p>
      <p className="pet-card-facts">
        No. {pet.id} · {category} · {statusText(pet.status)}
      </p>
      <p className="pet-card-line">Price</p>
      <p className="pet-card-line">Notes</p>
    </div>
  )
}
