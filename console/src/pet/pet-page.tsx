// The page of one pet: what it is, how to sell it, and what has happened to it.
import './pet.css'
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { VersionedPet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { DeleteIcon, EditIcon, PrintIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { isId } from '../pets/filters.ts'
import { categoriesQuery, categoryName, petQuery } from '../pets/queries.ts'
import { StatusBadge } from '../pets/status-badge.tsx'
import { profileQuery } from '../profile/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { BackToList } from './back-to-list.tsx'
import { History } from './history.tsx'
import { PetFacts } from './pet-facts.tsx'
import { PetNeighbours } from './pet-neighbours.tsx'
import { PrintCard } from './print-card.tsx'
import { SaleCard } from './sale-card.tsx'
import { useCanDelete } from './use-can-delete.ts'

const PetForm = lazy(() => import('./pet-form.tsx').then((file) => ({ default: file.PetForm })))
const DeleteDialog = lazy(() =>
  import('./delete-dialog.tsx').then((file) => ({ default: file.DeleteDialog })),
)

export function PetPage() {
  const { petId } = useParams({ from: '/pets/$petId' })
  return (
    <Stack>
      <Group justify="space-between">
        <BackToList />
        <PetNeighbours petId={petId} />
      </Group>
      {isId(petId) ? <FoundPet key={petId} petId={petId} /> : <UnknownPet petId={petId} />}
    </Stack>
  )
}

function FoundPet({ petId }: { petId: string }) {
  const { data: pet, error, refetch } = useQuery(petQuery(useStore(), petId))
  if (pet === null) return <UnknownPet petId={petId} />
  if (pet !== undefined) return <PetDetails pet={pet} />
  return error === null ? (
    <Loading what="the pet" height={125} rows={3} />
  ) : (
    <ErrorMessage error={error} onRetry={() => void refetch()} />
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
      <PrintCard pet={pet} category={category} profile={profile} />
      <Group justify="space-between" align="flex-start" className="no-print">
        <div className="pet-heading">
          <Title order={1} size="h2" id={`pet-${pet.id}`} tabIndex={-1}>
            {pet.name}
          </Title>
          <Group gap="sm" mt={6}>
            <StatusBadge status={pet.status} />
            <Text c="dimmed" size="sm">
              No. {pet.id} · {category}
            </Text>
          </Group>
        </div>
        <PetButtons pet={pet} />
      </Group>
      <div className="pet-parts no-print">
        <SaleCard pet={pet} />
        <PetFacts petId={pet.id} />
        <History petId={pet.id} categories={categories} />
      </div>
    </>
  )
}

function PetButtons({ pet }: { pet: VersionedPet }) {
  const canWrite = useScopes().has('pets:write')
  const canDelete = useCanDelete(pet)
  const [isEditing, edit] = useDisclosure()
  const [isDeleting, remove] = useDisclosure()
  return (
    <Group gap="xs" className="pet-buttons">
      {/* First, because it appears later than the others, which must not move under the mouse. */}
      {canDelete && (
        <Button
          variant="default"
          className="danger"
          leftSection={<DeleteIcon size={16} />}
          aria-haspopup="dialog"
          onClick={remove.open}
        >
          Delete
        </Button>
      )}
      {canWrite && (
        <Button
          variant="default"
          leftSection={<EditIcon size={16} />}
          aria-haspopup="dialog"
          onClick={edit.open}
        >
          Edit
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<PrintIcon size={16} />}
        aria-label="Print a card"
        onClick={() => window.print()}
      >
        Print
      </Button>
      <Suspense>
        {isEditing && <PetForm pet={pet} onClose={edit.close} />}
        {isDeleting && <DeleteDialog pet={pet} onClose={remove.close} />}
      </Suspense>
    </Group>
  )
}

function UnknownPet({ petId }: { petId: string }) {
  usePageTitle('No such pet')
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={1} size="h2">
        No pet has the number {petId.slice(0, 20)}
      </Title>
      <Text c="dimmed">The number may be wrong, or the pet was deleted because it was added by mistake.</Text>
      <AnchorLink to="/">Search all pets</AnchorLink>
    </Stack>
  )
}
