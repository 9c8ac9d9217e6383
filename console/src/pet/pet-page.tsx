// The page of one pet: what it is, how to sell it, and what has happened to it.
import './pet.css'
import { Button, Kbd, Menu, Text, Title } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import type { VersionedPet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ButtonLink } from '../layout/button-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { DeleteIcon, EditIcon, PrintIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { MenuButton } from '../layout/menu-button.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { isId } from '../pets/filters.ts'
import { drawingOf, PetDrawing } from '../pets/drawings.tsx'
import { categoriesQuery, categoryName, petQuery } from '../pets/queries.ts'
import { profileQuery } from '../profile/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { BackToList } from './back-to-list.tsx'
import { History } from './history.tsx'
import { PetFacts } from './pet-facts.tsx'
import { PetNeighbours } from './pet-neighbours.tsx'
import { SaleState } from './sale-state.tsx'
import { useCanDelete } from './use-can-delete.ts'

const PetForm = lazy(() => import('./pet-form.tsx').then((file) => ({ default: file.PetForm })))
const DeleteDialog = lazy(() =>
  import('./delete-dialog.tsx').then((file) => ({ default: file.DeleteDialog })),
)

export function PetPage() {
  const { petId } = useParams({ from: '/pets/$petId' })
  return isId(petId) ? <FoundPet key={petId} petId={petId} /> : <UnknownPet petId={petId} />
}

function Head({ petId, children }: { petId: string; children?: ReactNode }) {
  return (
    <div className="page-head no-print">
      <BackToList />
      <div className="page-actions">
        <PetNeighbours petId={petId} />
        {children}
      </div>
    </div>
  )
}

function FoundPet({ petId }: { petId: string }) {
  const { data: pet, error, refetch } = useQuery(petQuery(useStore(), petId))
  if (pet === null) return <UnknownPet petId={petId} />
  if (pet !== undefined) return <PetDetails pet={pet} />
  return (
    <>
      <Head petId={petId} />
      <div className="page-body">
        {error === null ? (
          <Loading what="the pet" height={125} rows={3} />
        ) : (
          <ErrorMessage error={error} onRetry={() => void refetch()} />
        )}
      </div>
    </>
  )
}

function PetDetails({ pet }: { pet: VersionedPet }) {
  usePageTitle(pet.name)
  const store = useStore()
  const { data: categories } = useQuery(categoriesQuery(store))
  const { data: profile } = useQuery(profileQuery(store, pet.id))
  const category = categoryName(categories, pet.categoryId)
  return (
    <>
      <Head petId={pet.id}>
        <PetButtons pet={pet} />
      </Head>
      <div className="pet-layout no-print">
        <div className="pet-photo">
          <PetDrawing shown={drawingOf(categories, pet.categoryId)} size={112} />
        </div>
        <div className="pet-main">
          <Title order={1} id={`pet-${pet.id}`} tabIndex={-1}>
            {pet.name}
          </Title>
          <Text c="var(--ink-2)">
            {[profile?.breed, category, `No. ${pet.id}`].filter((text) => text !== undefined).join(' · ')}
          </Text>
          <SaleState pet={pet} />
          <PetFacts petId={pet.id} />
        </div>
        <div className="pet-past">
          <History petId={pet.id} categories={categories} />
        </div>
      </div>
    </>
  )
}

function PetButtons({ pet }: { pet: VersionedPet }) {
  const canWrite = useScopes().has('pets:write')
  const canDelete = useCanDelete(pet)
  const navigate = useNavigate()
  const [isEditing, edit] = useDisclosure()
  const [isDeleting, remove] = useDisclosure()
  useHotkeys([['e', () => canWrite && edit.open()]])
  return (
    <>
      <ButtonLink
        to="/cards"
        search={{ ids: [pet.id] }}
        variant="subtle"
        className="only-desk"
        leftSection={<PrintIcon size={16} />}
      >
        Card
      </ButtonLink>
      {canWrite && (
        <Button
          variant="subtle"
          className="icon-on-phone"
          leftSection={<EditIcon size={16} />}
          rightSection={<Kbd size="xs">E</Kbd>}
          aria-haspopup="dialog"
          onClick={edit.open}
        >
          Edit
        </Button>
      )}
      <MenuButton label={`More for ${pet.name}`}>
        <Menu.Item
          leftSection={<PrintIcon />}
          onClick={() => void navigate({ to: '/cards', search: { ids: [pet.id] } })}
        >
          Print a card
        </Menu.Item>
        {canDelete && (
          <Menu.Item
            className="danger"
            leftSection={<DeleteIcon />}
            aria-haspopup="dialog"
            onClick={remove.open}
          >
            Delete
          </Menu.Item>
        )}
      </MenuButton>
      <Suspense>
        {isEditing && <PetForm pet={pet} onClose={edit.close} />}
        {isDeleting && <DeleteDialog pet={pet} onClose={remove.close} />}
      </Suspense>
    </>
  )
}

function UnknownPet({ petId }: { petId: string }) {
  usePageTitle('No such pet')
  return (
    <>
      <Head petId={petId} />
      <div className="page-body">
        <Title order={1} size="h2">
          No pet has the number {petId.slice(0, 20)}
        </Title>
        <Text c="dimmed">
          The number may be wrong, or the pet was deleted because it was added by mistake.
        </Text>
        <AnchorLink to="/">Search all pets</AnchorLink>
      </div>
    </>
  )
}
