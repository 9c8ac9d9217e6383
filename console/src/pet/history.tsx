// The history of a pet: who did what, when and why, and all the money of its orders. The newest change is at the top.
import { Button, Text } from '@mantine/core'
import type { Category, HistoryEntry, Page, Petstore } from '@petstore/client'
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useTimedText } from '../layout/clock.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { Section } from '../layout/section.tsx'
import { Tint } from '../layout/tints.tsx'
import type { EntryLine } from '../money/entry-lines.ts'
import { entriesOfPetQuery } from '../money/queries.ts'
import { reasonText } from '../money/words.ts'
import { categoryName } from '../pets/queries.ts'
import { signOf } from '../money/amounts.ts'
import { amountText } from '../profile/price.ts'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'
import { entryText } from './history-text.ts'
import { pastOf } from './past.ts'
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
  const store = useStore()
  const canRead = useScopes().has('orders:read')
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    historyQuery(store, petId),
  )
  const { data: entries } = useQuery({ ...entriesOfPetQuery(store, petId), enabled: canRead })
  const changes = data?.pages.flatMap(({ items }) => items)
  const isRead = changes !== undefined && (entries !== undefined || !canRead)
  return (
    <Section title="History">
      {!isRead && error === null && <Loading what="the history" height={120} />}
      {isRead && (
        <ol className="history">
          {pastOf(changes, entries, hasNextPage).map((item) =>
            'line' in item ? (
              <Money key={`entry-${item.line.entry.id}`} line={item.line} />
            ) : (
              // Changes have no id. New ones are added at the top, so a change is counted from the end.
              <Change key={changes.length - item.index} change={item.change} categories={categories} />
            ),
          )}
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

/** An entry of the ledger, with the money at the right. */
function Money({ line: { entry, what, amount, struck } }: { line: EntryLine }) {
  const { at, actor, reason, kind } = entry
  const isStruck = struck !== undefined
  return (
    <li data-event={kind} className="has-money">
      <Text className="history-what">
        <span className={isStruck ? 'struck' : undefined}>{what}</span>{' '}
        {isStruck && <Tint tone="bad">{struck}</Tint>}
      </Text>
      <span
        className={isStruck ? 'amount struck' : 'amount'}
        data-negative={(signOf(amount.amount) < 0 && !isStruck) || undefined}
      >
        {signOf(amount.amount) !== 0 && amountText(amount)}
      </span>
      <Text size="xs" c="dimmed">
        {actor !== undefined && `${actor} · `}
        <Ago at={at} />
        {reason !== undefined && ` · ${reasonText(reason)}`}
      </Text>
    </li>
  )
}

function Ago({ at }: { at: string }) {
  const ago = useTimedText((now) => agoText(at, now))
  return (
    <time dateTime={at} title={exactText(at)}>
      {ago}
    </time>
  )
}

function Change({ change, categories }: { change: HistoryEntry; categories: Category[] | undefined }) {
  const { who, what, why } = entryText(change, (id) => categoryName(categories, id))
  return (
    <li data-event={change.event}>
      <Text className="history-what">{what}</Text>
      <Text size="xs" c="dimmed">
        {who} · <Ago at={change.at} />
        {why !== undefined && ` · “${why}”`}
      </Text>
    </li>
  )
}
