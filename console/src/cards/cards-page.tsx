// Cage cards: eight on a page of A4, each with the price, the facts and a QR code of the page of the pet.
import './cards.css'
import { Button, Text } from '@mantine/core'
import type { Pet, PetProfile, Petstore } from '@petstore/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { dayOf } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PrintIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { Page } from '../layout/page.tsx'
import { drawingOf, PetDrawing } from '../pets/drawings.tsx'
import { categoriesQuery, categoryName, readInParts, readPets } from '../pets/queries.ts'
import { cardFacts } from '../profile/facts.ts'
import { priceText } from '../profile/price.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { QrCode } from './qr-code.tsx'

export function CardsPage() {
  const { ids } = useSearch({ from: '/cards' })
  const { data, error, refetch } = useQuery(cardsQuery(useStore(), ids))
  const print = (
    <Button leftSection={<PrintIcon size={16} />} disabled={!data?.length} onClick={() => window.print()}>
      Print
    </Button>
  )
  return (
    <Page title="Cage cards" count={data && String(data.length)} actions={print} isFlush>
      {ids.length === 0 && <NoPets />}
      {ids.length > 0 && data === undefined && error === null && (
        <Loading what="the cards" height={260} rows={2} />
      )}
      {data === undefined && error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data && (
        <div className="cards" role="list" aria-label="Cards">
          {data.map((shown) => (
            <Card key={shown.pet.id} {...shown} />
          ))}
        </div>
      )}
    </Page>
  )
}

interface Shown {
  pet: Pet
  profile: PetProfile | undefined
}

/** In the order of the ids. Pets that were deleted are missing. */
function cardsQuery(store: Petstore, ids: string[]) {
  return queryOptions({
    queryKey: KEYS.cards(ids),
    staleTime: 0,
    enabled: ids.length > 0,
    queryFn: async ({ signal }): Promise<Shown[]> => {
      const [pets, profiles] = await Promise.all([
        readPets(store, ids, signal),
        readInParts(ids, (petId) => store.pets.profiles({ petId }, { signal })),
      ])
      return ids.flatMap((id) => {
        const pet = pets[id]
        return pet ? [{ pet, profile: profiles.find(({ petId }) => petId === id) }] : []
      })
    },
  })
}

function Card({ pet, profile }: Shown) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const facts = cardFacts(profile ?? {}, dayOf(Date.now()))
  return (
    <div className="cage-card" role="listitem">
      <span className="picture">
        <PetDrawing shown={drawingOf(categories, pet.categoryId)} size={96} />
      </span>
      <div className="who">
        <b>{pet.name}</b>
        <strong>{profile?.breed ?? categoryName(categories, pet.categoryId)}</strong>
        <span>{facts.join(' · ')}</span>
        <p>{profile?.description}</p>
      </div>
      <div className="foot">
        <div>
          <b>{(profile && priceText(profile)) ?? ''}</b>
          <small>No. {pet.id}</small>
        </div>
        <QrCode text={`${location.origin}/pets/${pet.id}`} label={`QR code of the page of ${pet.name}`} />
      </div>
    </div>
  )
}

function NoPets() {
  return (
    <div className="page-body">
      <Text>Select pets in the list, then choose Cage cards.</Text>
      <AnchorLink to="/">Show all pets</AnchorLink>
    </div>
  )
}
