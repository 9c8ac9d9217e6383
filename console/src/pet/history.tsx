// The history of a pet: who did what, when and why. The newest change is at the top.
import { Button, Text } from '@mantine/core'
import type { Category, HistoryEntry, Page, Petstore } from '@petstore/client'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useTimedText } from '../layout/clock.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { Section } from '../layout/section.tsx'
import { categoryName } from '../pets/queries.ts'
import { KEYS } from '../session/query-keys.ts'
import { useStore } from '../session/session.ts'
import { entryText } from './history-text.ts'
import { agoText, exactText } from '../layout/when-text.ts'

const PAGE_SIZE = 20

function historyQuery(store: Petstore, petId: string) {
  return infiniteQueryOptions({
    queryKey: KEYS.history(petId),
    queryFn: ({ pageParam: cursor, signal }): Promise<Page<HistoryEntry>> =>
      store.pets.history(petId, { limit: PAGE_SIZE, cursor }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

interface Props {
  petId: string
  categories: Category[] | undefined
}

export function History({ petId, categories }: Props) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    historyQuery(useStore(), petId),
  )
  const entries = data?.pages.flatMap(({ items }) => items)
  return (
    <Section title="History">
      {entries === undefined && error === null && <Loading what="the history" height={120} />}
      {entries && (
        <ol className="history">
          {entries.map((entry, index) => (
            // Entries have no id. New ones are added at the top, so an entry is counted from the end.
            <Entry key={entries.length - index} entry={entry} categories={categories} />
          ))}
        </ol>
      )}
      {error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Section>
  )
}

function Entry({ entry, categories }: { entry: HistoryEntry; categories: Category[] | undefined }) {
  const { who, what, why } = entryText(entry, (id) => categoryName(categories, id))
  const ago = useTimedText((now) => agoText(entry.at, now))
  return (
    <li data-event={entry.event}>
      <Text className="history-what">{what}</Text>
      <Text size="xs" c="dimmed">
        {who} ·{' '}
        <time dateTime={entry.at} title={exactText(entry.at)}>
          {ago}
        </time>
        {why !== undefined && ` · “${why}”`}
      </Text>
    </li>
  )
}
