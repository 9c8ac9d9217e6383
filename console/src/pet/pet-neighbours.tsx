// Links to the previous and the next pet of the list from which the page was opened.
import { ActionIcon } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { BackIcon, ForwardIcon } from '../layout/icons.tsx'
import { lastFilters } from '../pets/last-list.ts'
import { petListQuery } from '../pets/queries.ts'
import { useStore } from '../session/session.ts'
import { neighboursOf } from './neighbours.ts'

export function PetNeighbours({ petId }: { petId: string }) {
  const isFromList = useRouterState({ select: ({ location }) => location.state.isFromList === true })
  return isFromList && <Links petId={petId} />
}

function Links({ petId }: { petId: string }) {
  const navigate = useNavigate()
  const { previous, next } = useNeighbours(petId)
  const open = (id: string | undefined) => {
    // The way back still leads to the list.
    const state = { isFromList: true }
    if (id !== undefined) void navigate({ to: '/pets/$petId', params: { petId: id }, state, replace: true })
  }
  useHotkeys([
    ['j', () => open(next)],
    ['k', () => open(previous)],
  ])
  if (previous === undefined && next === undefined) return null
  return (
    <>
      <ActionIcon aria-label="Previous pet" disabled={previous === undefined} onClick={() => open(previous)}>
        <BackIcon />
      </ActionIcon>
      <ActionIcon aria-label="Next pet" disabled={next === undefined} onClick={() => open(next)}>
        <ForwardIcon />
      </ActionIcon>
    </>
  )
}

/** Reads the list that is in the cache. Reads its next page before the last pet of the cache is reached. */
function useNeighbours(petId: string) {
  const query = petListQuery(useStore(), lastFilters())
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({ ...query, enabled: false })
  const petIds = useMemo(() => data?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? [], [data])
  const index = petIds.indexOf(petId)
  const [last, setLast] = useState({ petId, index: -1 })
  if (index !== -1 && (last.petId !== petId || last.index !== index)) setLast({ petId, index })
  useEffect(() => {
    if (index !== -1 && index === petIds.length - 1 && hasNextPage && !isFetching) void fetchNextPage()
  }, [index, petIds.length, hasNextPage, isFetching, fetchNextPage])
  const lastIndex = last.petId === petId && last.index !== -1 ? last.index : undefined
  return neighboursOf(petIds, petId, lastIndex)
}
