// Sells the selected pets: an order for each, with its price, and one note for all.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQueries, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { Loading } from '../layout/loading.tsx'
import { orderedPetsQuery } from '../pets/queries.ts'
import { shopCurrency } from '../shop/shop.ts'
import { MethodField } from '../money/method-field.tsx'
import type { Method } from '../money/words.ts'
import { signOf } from '../money/amounts.ts'
import { PriceField } from '../profile/price-field.tsx'
import { amountsText } from '../profile/price.ts'
import { profileListQuery } from '../profile/queries.ts'
import { heldByText } from '../selling/conflict-text.ts'
import { depositText } from '../selling/deposit-text.ts'
import { openOrderQuery } from '../selling/queries.ts'
import { NoteField } from '../selling/note-field.tsx'
import { useScopes, useStore } from '../session/session.ts'
import { FailedList, ManyDialog } from './many-dialog.tsx'
import { dueOf, type SaleLine, saleLine, sellMany, totalOf } from './sell-many.ts'
import { useMany } from './use-many.ts'

interface Props {
  pets: Pet[]
  onClose: () => void
}

export function SellDialog({ pets, onClose }: Props) {
  const store = useStore()
  const [note, setNote] = useState('')
  const [method, setMethod] = useState<Method>()
  const [isChecked, setChecked] = useState(false)
  const [typed, setTyped] = useState<Record<string, string>>({})
  const [tried, setTried] = useState(0)
  const current = useLines(pets, typed)
  const canUndo = useScopes().has('orders:read')
  const { mutate, variables, data, isPending } = useMany({
    run: (chosen: SaleLine[]) => sellMany(store, chosen, { note, method }, setTried),
    doneText: ({ done, total }) =>
      `Sold ${counted(done.length, 'pet')}${total.length > 0 ? ` for ${amountsText(total)}` : ''}.`,
    canUndo,
    onDone: onClose,
  })
  // During the sale, the pets change one after the other. The dialog keeps showing what the person has confirmed.
  const lines = variables ?? current
  const sellable = lines?.filter(({ obstacle }) => obstacle === undefined) ?? []

  const due = dueOf(sellable).filter(({ amount }) => signOf(amount) !== 0)
  const isWithoutMethod = due.length > 0 && method === undefined

  function submit(event: FormEvent): void {
    event.preventDefault()
    setChecked(true)
    if (isWithoutMethod) return
    if (sellable.every(({ fault }) => fault === undefined)) mutate(sellable)
  }

  return (
    <ManyDialog title={`Sell ${counted(pets.length, 'pet')}`} onClose={onClose} isBusy={isPending} isWide>
      {data && <FailedList what="sold" failed={data.failed} onClose={onClose} />}
      {!data && lines === undefined && <Loading what="the prices" height={200} />}
      {!data && lines !== undefined && (
        <form onSubmit={submit} noValidate>
          <Stack>
            <NoteField
              label="Buyer"
              description="Optional. Who buys them?"
              placeholder="Ms Okafor, 030 5550147"
              value={note}
              onChange={setNote}
            />
            <div role="list" aria-label="Pets to sell">
              {lines.map((line) => (
                <Line
                  key={line.pet.id}
                  line={line}
                  onType={(text) => setTyped((before) => ({ ...before, [line.pet.id]: text }))}
                />
              ))}
            </div>
            {due.length > 0 && (
              <MethodField
                label="Payment"
                value={method}
                onChange={setMethod}
                error={isChecked && isWithoutMethod ? 'Choose how they are paid.' : undefined}
              />
            )}
            <Group justify="space-between">
              <Total lines={sellable} />
              <Group gap="xs">
                <Button variant="default" disabled={isPending} onClick={onClose}>
                  Cancel
                </Button>
                <Button type="submit" disabled={isPending || sellable.length === 0}>
                  {isPending
                    ? `Selling, ${tried} of ${sellable.length}`
                    : `Sell ${counted(sellable.length, 'pet')}${due.length > 0 ? ` for ${amountsText(due)}` : ''}`}
                </Button>
              </Group>
            </Group>
          </Stack>
        </form>
      )}
    </ManyDialog>
  )
}

function Total({ lines }: { lines: SaleLine[] }) {
  const total = totalOf(lines)
  if (lines.some(({ fault }) => fault !== undefined)) return <Text fw={600}>Check the prices</Text>
  return <Text fw={600}>{total.length > 0 ? `Total ${amountsText(total)}` : 'No prices'}</Text>
}

function Line({ line, onType }: { line: SaleLine; onType: (text: string) => void }) {
  const { pet, order, obstacle, text, currency, fault, description } = line
  return (
    <div className="sale-line" role="listitem">
      <div>
        <Text fw={600} truncate title={pet.name}>
          {pet.name}
        </Text>
        <Text size="xs" c="dimmed">
          No. {pet.id}
          {order && ` · ${heldByText(order, Date.now())}`}
          {order?.deposit !== undefined && ` · ${depositText(order)}`}
        </Text>
      </div>
      {obstacle === undefined ? (
        <PriceField
          label={undefined}
          aria-label={`Price of ${pet.name}`}
          value={text}
          currency={currency}
          error={fault}
          description={description}
          onChange={(event) => onType(event.currentTarget.value)}
        />
      ) : (
        <Text size="sm" className="field-warning">
          Not sold: {obstacle}
        </Text>
      )}
    </div>
  )
}

/** The pets as they are now, with their prices and open orders; undefined until they are read. */
function useLines(selected: Pet[], typed: Record<string, string>): SaleLine[] | undefined {
  const store = useStore()
  const canReadOrders = useScopes().has('orders:read')
  const ids = selected.map(({ id }) => id)
  const { data: current } = useQuery(orderedPetsQuery(store, ids))
  // A pet that was deleted since is shown as it was.
  const pets = selected.map((pet) => current?.[pet.id] ?? pet)
  const deleted = new Set(ids.filter((id) => current?.[id] === undefined))
  const { data: profiles = {}, isLoading } = useQuery(profileListQuery(store, ids))
  const held = pets.filter(({ status }) => status === 'pending' && canReadOrders)
  const orders = useQueries({ queries: held.map(({ id }) => openOrderQuery(store, id)) })
  if (current === undefined || isLoading || orders.some((order) => order.isLoading)) return undefined
  const byPet: Record<string, Order> = {}
  for (const { data: order } of orders) if (order) byPet[order.petId] = order
  return pets.map((pet) =>
    saleLine(pet, { orders: byPet, profiles, typed, currency: shopCurrency(), deleted }),
  )
}
