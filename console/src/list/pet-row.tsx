// One pet in the list. On a phone, the whole row opens the pet, and a long press selects it.
import type { Order, Pet, PetProfile } from '@petstore/client'
import { type MouseEvent, memo, useRef } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { dateTimeText, dayOf, shortDateText } from '../layout/dates.ts'
import { useHasChanged } from '../live/live-feed.tsx'
import { PetThumb, type Shown } from '../pets/drawings.tsx'
import { FROM_LIST } from '../pets/last-list.ts'
import { StatusTint } from '../pets/status-tint.tsx'
import { type FactName, FACTS } from '../profile/facts.ts'
import { askedPrice, priceText } from '../profile/price.ts'
import { useOpenOrder } from '../selling/queries.ts'
import { RowActions } from '../selling/row-actions.tsx'
import type { Cell, ColumnId } from './columns.ts'

const LONG_PRESS_MS = 500

interface Props {
  pet: Pet
  category: string
  drawing: Shown | undefined
  /** Undefined if the pet has none, or until it is read. */
  profile: PetProfile | undefined
  columns: ColumnId[]
  cells: Cell[]
  isSelected: boolean
  /** Whether the pet is one of many that the person has selected. Undefined if the key allows no action with many. */
  isChecked: boolean | undefined
  /** Whether pets are selected: then a touch selects a pet instead of opening it. */
  isPicking: boolean
  /** `isRange` is true with the Shift key. */
  onCheck: (pet: Pet, isRange: boolean) => void
}

export const PetRow = memo((props: Props) => {
  const { pet, category, drawing, profile, columns, cells, isSelected, isChecked, onCheck } = props
  const hasChanged = useHasChanged(pet.id)
  const { order, isLoading } = useOpenOrder(pet)
  const breed = columns.includes('breed') ? profile?.breed : undefined
  return (
    <div
      className="list-row pet-row"
      data-status={pet.status}
      data-selected={isSelected || undefined}
      data-changed={hasChanged || undefined}
      data-checked={isChecked || undefined}
      {...useLongPress(props)}
    >
      {isChecked !== undefined && (
        <label className="select">
          <input
            type="checkbox"
            aria-label={`Select ${pet.name}`}
            checked={isChecked}
            onChange={({ nativeEvent }) => onCheck(pet, (nativeEvent as unknown as MouseEvent).shiftKey)}
          />
        </label>
      )}
      <PetThumb shown={drawing} />
      <div className="name">
        <AnchorLink
          to="/pets/$petId"
          params={{ petId: pet.id }}
          state={FROM_LIST}
          id={`pet-${pet.id}`}
          underline="hover"
          title={pet.name}
        >
          {pet.name}
        </AnchorLink>
        <span className="second only-desk">No. {pet.id}</span>
      </div>
      <div className="kind only-desk">
        <span>{breed ?? category}</span>
        {breed !== undefined && <span className="second">{category}</span>}
      </div>
      {cells.map(({ id, second }) => (
        <div key={id} className="fact only-desk" data-column={id}>
          {id === 'added' ? <Added at={pet.createdAt} /> : profile && factText(id, profile)}
          {second && <span className="second">{profile && factText(second, profile)}</span>}
        </div>
      ))}
      <div className="kind only-phone">
        {[breed ?? category, ...cells.flatMap(({ id, second }) => [second, id]).map(factOf(profile))]
          .filter(Boolean)
          .join(' · ')}
      </div>
      <div className="status">
        <StatusTint status={pet.status} expiresAt={order?.expiresAt} />
        {order?.note !== undefined && (
          <span className="second" title={order.note}>
            {order.note}
          </span>
        )}
      </div>
      {columns.includes('price') && (
        <div className="amount" data-column="price">
          {priceText(askedPrice(order, profile))}
        </div>
      )}
      <div className="action">{!isLoading && <Actions pet={pet} order={order} />}</div>
    </div>
  )
})

/** Unknown until the next read if another person has just changed the pet so that it belongs to the list. */
function Added({ at }: { at: string | undefined }) {
  if (at === undefined) return null
  return (
    <time dateTime={at} title={dateTimeText(at)}>
      {shortDateText(at, Date.now())}
    </time>
  )
}

function Actions({ pet, order }: { pet: Pet; order: Order | undefined }) {
  return pet.status !== 'sold' && <RowActions pet={pet} order={order} />
}

function factText(name: FactName, profile: PetProfile): string | undefined {
  const [value, { column }] = [profile[name], FACTS[name]]
  return value !== undefined && column?.text ? column.text(value, dayOf(Date.now())) : value
}

/** The time is not a fact. */
function factOf(profile: PetProfile | undefined) {
  return (name: Cell['id'] | undefined) =>
    name && name !== 'added' && profile ? factText(name, profile) : undefined
}

/** A finger that stays on the row selects the pet. The click that follows does not open it. */
function useLongPress({ pet, isChecked, isPicking, onCheck }: Props) {
  const press = useRef<{ timer?: ReturnType<typeof setTimeout>; isLong: boolean }>({ isLong: false })
  if (isChecked === undefined) return {}
  const end = () => clearTimeout(press.current.timer)
  return {
    onTouchStart: () => {
      press.current.isLong = false
      press.current.timer = setTimeout(() => {
        press.current.isLong = true
        onCheck(pet, false)
      }, LONG_PRESS_MS)
    },
    onTouchMove: end,
    onTouchCancel: end,
    onTouchEnd: end,
    onContextMenu: (event: MouseEvent) => press.current.isLong && event.preventDefault(),
    onClickCapture: (event: MouseEvent) => {
      const isTouch = (event.nativeEvent as PointerEvent).pointerType === 'touch'
      const isOnLink = event.target instanceof Element && event.target.closest('a') !== null
      if (!isTouch || !isOnLink || (!press.current.isLong && !isPicking)) return
      event.preventDefault()
      event.stopPropagation()
      if (!press.current.isLong) onCheck(pet, false)
    },
  }
}
