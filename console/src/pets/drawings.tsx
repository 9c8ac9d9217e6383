// The drawings of categories, 32 × 32, in the colour of the text and with the same weight of lines in each size. They are
// decoration: the category is always named next to them.
import type { Category } from '@petstore/client'
import type { ReactNode } from 'react'
import { PetsIcon } from '../layout/icons.tsx'

export type Picture = NonNullable<Category['picture']>

const DRAWINGS: Record<Picture, ReactNode> = {
  dog: (
    <>
      <path d="M10.5 9c3.2-1.8 7.8-1.8 11 0 1.5 2.7 2 5.9 1.6 8.9-.6 4.6-3.2 8.1-7.1 8.1s-6.5-3.5-7.1-8.1C8.5 14.9 9 11.7 10.5 9z" />
      <path d="M10.5 9C8 7.2 5 8.2 4.3 11.3c-.6 2.7.1 5.9 1.8 7.9 1.2-.1 2.2-.8 2.8-1.9M21.5 9c2.5-1.8 5.5-.8 6.2 2.3.6 2.7-.1 5.9-1.8 7.9-1.2-.1-2.2-.8-2.8-1.9" />
      <path d="M14.4 19h3.2L16 20.8zM16 20.8v1.3m-2.6.8c1 .8 2.1.5 2.6-.8.5 1.3 1.6 1.6 2.6.8" />
      <path className="dots" d="M12.6 14.8h.01M19.4 14.8h.01" />
    </>
  ),
  cat: (
    <>
      <path d="M7 5.8l4.7 3.8c2.8-.8 5.8-.8 8.6 0L25 5.8c1 3.4 1.3 6.8.9 10.1-.7 5.2-4.6 9.3-9.9 9.3s-9.2-4.1-9.9-9.3C5.7 12.6 6 9.2 7 5.8z" />
      <path d="M15 18.3h2l-1 1.2zM16 19.5c-.4 1.4-1.6 1.8-2.7 1.2M16 19.5c.4 1.4 1.6 1.8 2.7 1.2M3.3 17.3l4.2.6M3.8 21.5l4-1.1M28.7 17.3l-4.2.6M28.2 21.5l-4-1.1" />
      <path className="dots" d="M12 14.7h.01M20 14.7h.01" />
    </>
  ),
  rabbit: (
    <>
      <path d="M12.5 13.3C9.7 9.6 8.7 4.6 10.2 3.2c1.9-1.3 4.2 3.6 4.5 8.8M19.5 13.3c2.8-3.7 3.8-8.7 2.3-10.1-1.9-1.3-4.2 3.6-4.5 8.8" />
      <path d="M16 12c4.7 0 7.9 3.4 7.9 7.7S20.6 27.2 16 27.2s-7.9-3.2-7.9-7.5S11.3 12 16 12z" />
      <path d="M15 21.3h2l-1 1.2zM16 22.5c-.4 1.3-1.5 1.7-2.5 1.1M16 22.5c.4 1.3 1.5 1.7 2.5 1.1" />
      <path className="dots" d="M12.8 18.3h.01M19.2 18.3h.01" />
    </>
  ),
  rodent: (
    <>
      <path d="M9.8 12.4C11.6 11 13.9 10.2 16.5 10.2c6.4 0 10.5 4.3 10.5 9.8 0 3-2 5-4.9 5H9.3c-2.7 0-4.8-1.8-4.8-4.3 0-3.3 2-6.3 5.3-8.3z" />
      <path d="M9.8 12.4c-1.6-2-.9-4.8 1.3-5 2-.2 3.3 1.5 2.9 3.3M27 20.5c1.3.4 2.3-.1 2.8-1.3M12.5 25v1.8M21 25v1.8M11.8 21.6c1.7.6 3.4-.2 3.9-1.9" />
      <path className="dots" d="M9.6 17.3h.01" />
    </>
  ),
  bird: (
    <>
      <path d="M8 13.2C8 9.5 10.7 7 14.1 7c3.5 0 5.7 2.3 6.1 5.5.5 3.9 2.9 7.1 7.3 9.3-4.2 2-9 2.2-13.1.8C10.3 21.2 8 17.6 8 13.2z" />
      <path d="M8.2 11.2L4.3 13.3l3.8 1.5M13.3 15.3c.6 3.3 3.4 5.2 7.1 5.1M14.5 22.7v4.1M18.2 23.3v3.5M10 26.8h12.5" />
      <path className="dots" d="M12.6 11.5h.01" />
    </>
  ),
  fish: (
    <>
      <path d="M4 16c3-4.9 7-7 11.3-7 3.7 0 6.7 2.3 8.6 5.3L28 10.5v11l-4.1-3.8c-1.9 3-4.9 5.3-8.6 5.3C11 23 7 20.9 4 16z" />
      <path d="M13.7 11.8c1.6 2.6 1.6 5.8 0 8.4M17.5 16h3" />
      <path className="dots" d="M9.5 14.7h.01" />
    </>
  ),
  reptile: (
    <>
      <path d="M3.5 14.6c0-2.1 1.8-3.5 4.3-3.5 1.8 0 3.2.8 4.5 1.9 3-1.2 7.3-1.1 9.5.9 2.2 2 2.2 5.2 4.4 5.5 1.3.2 2-.8 2-2.3M3.5 14.6c.2 2.1 1.9 3.3 4.2 3.3 1.3 0 2.3-.3 3.2-.8 2.9 1.9 7 2.2 9.7.8 1 2.6 2.8 4.3 5.1 4.3" />
      <path d="M11.6 17.6l-1.5 3.2H7.6M18.6 18.6l.8 3.2h-2.6" />
      <path className="dots" d="M7.6 13.7h.01" />
    </>
  ),
  snake: (
    <>
      <path d="M25.5 23.7c0 1.7-2 3-4.3 3H9.5c-2.5 0-4.5-1.7-4.5-4s2-4 4.5-4h12c1.5 0 2.5-.9 2.5-2.2s-1-2.2-2.5-2.2h-6.8c-2.6 0-4.5-1.7-4.5-4.1 0-2.7 2.2-4.9 5.4-4.9h1.7c2.3 0 3.9 1.2 3.9 2.9s-1.5 2.8-3.5 2.8" />
      <path d="M21.2 8.2h2.6m1.5-1l-1.5 1 1.5 1" />
      <path className="dots" d="M16.8 7.8h.01" />
    </>
  ),
  tortoise: (
    <>
      <path d="M5 20.5c0-5.9 4.2-10 9.7-10s9.7 4.1 9.7 10zM14.7 10.5l-3.4 4.7 3.4 5.3 3.4-5.3zM11.3 15.2H6.4M18.1 15.2h5" />
      <path d="M24.3 19c.2-2.6 1.2-4 2.8-4s2.5 1.2 2.5 2.7c0 1.7-1.2 2.8-3 2.8h-2.2M8.2 20.5v2.7c0 .8.5 1.3 1.3 1.3h1.8v-4M18 20.5v4h1.8c.8 0 1.3-.5 1.3-1.3v-2.7M5 20.5c-1.2 0-2 .4-2.5 1.3" />
      <path className="dots" d="M27.3 17.4h.01" />
    </>
  ),
  frog: (
    <>
      <path d="M4.8 18.6c0-3.4 2.2-6 5.1-7.1-.1-2.4 1.3-4.1 3.1-4.1 1.4 0 2.5 1 2.8 2.4h.4c.3-1.4 1.4-2.4 2.8-2.4 1.8 0 3.2 1.7 3.1 4.1 2.9 1.1 5.1 3.7 5.1 7.1 0 4.1-4.7 6.6-11.2 6.6S4.8 22.7 4.8 18.6z" />
      <path d="M9 18.3c2.1 1.9 4.5 2.8 7 2.8s4.9-.9 7-2.8" />
      <path className="dots" d="M13 11.3h.01M19 11.3h.01" />
    </>
  ),
  insect: (
    <>
      <path d="M16 11.5v12M16 11.5c-.4-2.4-1.7-4-3.8-4.7M16 11.5c.4-2.4 1.7-4 3.8-4.7" />
      <path d="M16 14.5C13 9.7 7.7 8.2 5.8 10.3c-1.9 2.3.6 7 5 7.9-2.9.6-4 3.3-2.6 5.3 1.6 2.2 5.7.9 7.8-3.6M16 14.5c3-4.8 8.3-6.3 10.2-4.2 1.9 2.3-.6 7-5 7.9 2.9.6 4 3.3 2.6 5.3-1.6 2.2-5.7.9-7.8-3.6" />
    </>
  ),
  other: (
    <>
      <path d="M7.3 16.5h17.4l3 7.5c.5 1.2-.2 2.2-1.5 2.2H5.8c-1.3 0-2-1-1.5-2.2z" />
      <path d="M9 16.5c.4-3.8 3.2-6.5 7-6.5s6.6 2.7 7 6.5M12.5 21.3h7" />
      <path className="dots" d="M13.8 13.8h.01M17.5 13h.01" />
    </>
  ),
}

/** A category without a drawing has the paw, which is neutral. */
export type Shown = Picture | 'paw'

export const DRAWING_LABELS: Record<Shown, string> = {
  paw: 'None',
  dog: 'Dog',
  cat: 'Cat',
  rabbit: 'Rabbit',
  rodent: 'Rodent',
  bird: 'Bird',
  fish: 'Fish',
  reptile: 'Reptile',
  snake: 'Snake',
  tortoise: 'Tortoise',
  frog: 'Frog',
  insect: 'Insect',
  other: 'Other',
}

/** Undefined until the categories are read: a paw that becomes a dog would attract the eye. */
export function drawingOf(categories: Category[] | undefined, categoryId: string | undefined) {
  if (categories === undefined || categoryId === undefined) return undefined
  return categories.find(({ id }) => id === categoryId)?.picture ?? 'paw'
}

interface Props {
  shown: Shown | undefined
  size: number
}

/** What a pet of a category looks like until it has a photo. */
export function PetDrawing({ shown, size }: Props) {
  if (shown === undefined) return null
  // The service can have drawings that this page does not know.
  const drawing = shown === 'paw' ? undefined : DRAWINGS[shown]
  if (drawing === undefined) return <PetsIcon size={Math.round(size * 0.75)} />
  return (
    <svg className="drawing" data-drawing={shown} width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      {drawing}
    </svg>
  )
}

/** The square at the start of a row about a pet. */
export function PetThumb({ shown }: Pick<Props, 'shown'>) {
  return (
    <span className="thumb">
      <PetDrawing shown={shown} size={30} />
    </span>
  )
}
