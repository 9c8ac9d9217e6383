// The entries of the shown days, newest first. A sale is plain, everything else is tinted, and what was undone is struck through.
import { Button, Stack, Text, Title } from '@mantine/core'
import type { Entry, Pet } from '@petstore/client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { BanknoteIcon, PetsIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { Tint } from '../layout/tints.tsx'
import { exactText } from '../layout/when-text.ts'
import { categoriesQuery, categoryName, orderedPetsQuery } from '../pets/queries.ts'
import { reasonText } from '../money/words.ts'
import { useStore } from '../session/session.ts'
import { byDay, kindText, paymentText, shopTime, voidedIds } from './entry-text.ts'
import { entriesQuery } from './queries.ts'
import { type DayRange, longDayText } from './range.ts'
import { Sum } from './sum.tsx'

interface Props {
  range: DayRange
  timeZone: string
}

export function EntryList({ range, timeZone }: Props) {
  const store = useStore()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    entriesQuery(store, range),
  )
  const entries = data?.pages.flatMap(({ items }) => items) ?? []
  const petIds = entries.flatMap(({ petId }) => petId ?? [])
  const { data: pets } = useQuery({ ...orderedPetsQuery(store, petIds), enabled: petIds.length > 0 })
  if (data === undefined) {
    return error === null ? (
      <Loading what="entries" height={53} rows={5} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  }
  if (entries.length === 0) return <NoEntries />
  const voided = voidedIds(entries)
  return (
    <>
      <Head />
      {byDay(entries).map(({ day, entries: ofDay }) => (
        <section key={day} aria-label={`Entries of ${longDayText(day)}`}>
          {range.from !== range.to && (
            <Title order={2} size="h5" className="day-heading">
              {longDayText(day)}
            </Title>
          )}
          <div role="list">
            {ofDay.map((entry) => (
              <EntryRow
                key={entry.id}
                entry={entry}
                pet={pets?.[entry.petId ?? '']}
                isVoided={voided.has(entry.id)}
                timeZone={timeZone}
              />
            ))}
          </div>
        </section>
      ))}
      {error !== null && <ErrorMessage error={error} onRetry={() => void fetchNextPage()} />}
      {hasNextPage && (
        <Button variant="default" m="md" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}

function Head() {
  return (
    <div className="list-head entry-row" aria-hidden="true">
      <span>Time</span>
      <span>Entry</span>
      <span />
      <span>Pet</span>
      <span>Reason</span>
      <span className="seller">Seller</span>
      <span>Payment</span>
      <span className="amount">Amount</span>
      <span />
    </div>
  )
}

interface RowProps {
  entry: Entry
  pet: Pet | undefined
  isVoided: boolean
  timeZone: string
}

function EntryRow({ entry, pet, isVoided, timeZone }: RowProps) {
  const { at, petId, orderId, seller, actor, method, paid, currency } = entry
  const time = (
    <time dateTime={at} title={exactText(at)}>
      {shopTime(at, timeZone)}
    </time>
  )
  const payment = petId === undefined ? '' : paymentText(method)
  // Later entries count for the seller of the sale.
  const by = actor === seller ? undefined : actor
  return (
    <div className="list-row entry-row" role="listitem" data-voided={isVoided || undefined}>
      <span className="only-desk second-color">{time}</span>
      <span className="only-desk">
        <Kind entry={entry} />
      </span>
      <span className="thumb">
        {petId === undefined ? <BanknoteIcon size={20} /> : <PetsIcon size={20} />}
      </span>
      <PetName petId={petId} pet={pet} />
      <div className="for only-desk">
        {entry.reason === undefined ? entry.note : reasonText(entry.reason)}
        {by !== undefined && <span className="second">by {by}</span>}
      </div>
      <span className="seller">{seller}</span>
      <span className="only-desk">{payment}</span>
      <span className="status only-phone">
        {time}
        <Kind entry={entry} />
        <span>{[payment, seller ?? actor].filter(Boolean).join(' · ')}</span>
      </span>
      <span className="amount">
        <Sum amount={{ currency, amount: paid }} />
      </span>
      <span className="action">
        {orderId !== undefined && (
          <AnchorLink
            to="/receipt/$orderId"
            params={{ orderId }}
            size="sm"
            aria-label={`Receipt ${orderId}${pet ? ` of ${pet.name}` : ''}`}
          >
            Receipt
          </AnchorLink>
        )}
      </span>
    </div>
  )
}

function Kind({ entry }: { entry: Entry }) {
  const { text, tone } = kindText(entry)
  return tone === undefined ? <span className="second-color">{text}</span> : <Tint tone={tone}>{text}</Tint>
}

function PetName({ petId, pet }: { petId: string | undefined; pet: Pet | undefined }) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  if (petId === undefined) {
    return (
      <div className="name">
        <b>Cash drawer</b>
      </div>
    )
  }
  return (
    <div className="name">
      <AnchorLink to="/pets/$petId" params={{ petId }} underline="hover" title={pet?.name}>
        {pet?.name ?? `No. ${petId}`}
      </AnchorLink>
      <span className="second only-desk">
        No. {petId}
        {pet && ` · ${categoryName(categories, pet.categoryId)}`}
      </span>
    </div>
  )
}

function NoEntries() {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>No entries on these days</Text>
      <Text c="dimmed" ta="center" maw={420}>
        Each sale, deposit, return and correction appears here with its amount. To sell a pet, open its page.
      </Text>
    </Stack>
  )
}
