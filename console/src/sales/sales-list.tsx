// The sales of the shown days, newest first. Several days have a heading each, with the total of the day.
import { Button, Stack, Text, Title } from '@mantine/core'
import type { DayFigures, Order, Pet } from '@petstore/client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { counted } from '../layout/counted.ts'
import { dateText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { exactText } from '../layout/when-text.ts'
import { figuresQuery } from '../overview/queries.ts'
import { categoriesQuery, categoryName, orderedPetsQuery } from '../pets/queries.ts'
import { statusText } from '../pets/status-tint.tsx'
import { PetsIcon } from '../layout/icons.tsx'
import { Tint } from '../layout/tints.tsx'
import { priceText } from '../profile/price.ts'
import { timeText } from '../layout/hold-time.ts'
import { OrderNote } from '../selling/order-note.tsx'
import { useStore } from '../session/session.ts'
import { byDay, isBroughtBack, sumOfDay, totalText } from './day-sales.ts'
import { salesQuery } from './queries.ts'
import { type DayRange, daysBack } from './range.ts'

interface Props {
  range: DayRange
  today: string
}

export function SalesList({ range, today }: Props) {
  const store = useStore()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    salesQuery(store, range),
  )
  const { data: figures } = useQuery(figuresQuery(store, daysBack(range, today)))
  const orders = data?.pages.flatMap(({ items }) => items) ?? []
  const petIds = orders.map(({ petId }) => petId)
  const { data: pets } = useQuery({ ...orderedPetsQuery(store, petIds), enabled: petIds.length > 0 })
  if (data === undefined) {
    return error === null ? (
      <Loading what="sales" height={57} rows={5} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  }
  if (orders.length === 0) return <NoSales />
  return (
    <>
      {byDay(orders).map(({ day, sales }) => (
        <section key={day} aria-label={`Sales of ${dateText(`${day}T00:00`)}`}>
          {range.from !== range.to && (
            <DayHeading day={day} figures={figures?.days.find((one) => one.day === day)} />
          )}
          <div role="list">
            {sales.map((order) => (
              <SaleRow key={order.id} order={order} pet={pets?.[order.petId]} />
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

/** Such as "17 Nov 2026: 3 sales, €360.00". */
function DayHeading({ day, figures }: { day: string; figures: DayFigures | undefined }) {
  const { orders, totals } = figures ? sumOfDay(figures) : { orders: 0, totals: [] }
  const sums = [counted(orders, 'sale'), totalText(totals)].filter(Boolean)
  return (
    <Title order={2} size="h5" className="day-heading">
      {dateText(`${day}T00:00`)}
      {figures && <span className="day-total">: {sums.join(', ')}</span>}
    </Title>
  )
}

function SaleRow({ order, pet }: { order: Order; pet: Pet | undefined }) {
  const { petId, note, placedBy, closedAt = '' } = order
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const price = priceText(order)
  return (
    <div className="list-row sale-row" role="listitem" data-status="sold">
      <span className="thumb">
        <PetsIcon size={22} />
      </span>
      <div className="name">
        <AnchorLink to="/pets/$petId" params={{ petId }} underline="hover" title={pet?.name}>
          {pet?.name ?? `No. ${petId}`}
        </AnchorLink>
        <span className="second">
          No. {petId}
          {pet && ` · ${categoryName(categories, pet.categoryId)}`}
        </span>
      </div>
      <div className="for">
        <OrderNote note={note} />
        {isBroughtBack(pet) && (
          <Tint tone="bad">brought back, {statusText(pet.status).toLowerCase()} now</Tint>
        )}
      </div>
      <div className="status">
        <time dateTime={closedAt} title={exactText(closedAt)}>
          {timeText(closedAt)}
        </time>
        <span className="second">placed by {placedBy}</span>
      </div>
      <div className="amount">{price ?? <span className="second">No price</span>}</div>
    </div>
  )
}

function NoSales() {
  return (
    <Stack align="center" py="xl" gap="xs">
      <Text fw={600}>No sales on these days</Text>
      <Text c="dimmed" ta="center" maw={420}>
        A sale appears here with its price, its note and who placed the order. To sell a pet, open its page.
      </Text>
      <AnchorLink to="/" search={{ status: 'available' }}>
        Show available pets
      </AnchorLink>
    </Stack>
  )
}
