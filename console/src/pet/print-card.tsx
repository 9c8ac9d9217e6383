// The card that is printed for a pet, for example for its cage. It is not visible on the screen.
import type { Pet, PetProfile } from '@petstore/client'
import { dayOf } from '../layout/dates.ts'
import { statusText } from '../pets/status-tint.tsx'
import { cardFacts } from '../profile/facts.ts'
import { priceText } from '../profile/price.ts'

interface Props {
  pet: Pet
  category: string
  profile: PetProfile | undefined
}

export function PrintCard({ pet, category, profile }: Props) {
  const price = profile && priceText(profile)
  const facts = profile === undefined ? [] : cardFacts(profile, dayOf(Date.now()))
  return (
    <div className="print-only pet-card" aria-hidden="true">
      <p className="pet-card-name">{pet.name}</p>
      {price !== undefined && <p className="pet-card-price">{price}</p>}
      {facts.length > 0 && <p className="pet-card-facts">{facts.join(' · ')}</p>}
      <p className="pet-card-facts">
        No. {pet.id} · {category} · {statusText(pet.status)}
      </p>
      {/* What is not known is written by hand. */}
      {price === undefined && <p className="pet-card-line">Price</p>}
      <p className="pet-card-line">Notes</p>
    </div>
  )
}
