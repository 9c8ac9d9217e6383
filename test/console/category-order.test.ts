// The sort order, the bars and the shares of categories on the overview.
import type { Category } from '@petstore/client'
import { expect, test } from 'vitest'
import { barParts, bySize, shareText } from '../../console/src/pets/category-order.ts'

const category = (id: string, available: number, pending = 0, sold = 0): Category => ({
  id,
  counts: { available, pending, sold },
})

test('the category with the most pets comes first, and equal ones keep their order', () => {
  const categories = [category('1', 0), category('2', 3), category('3', 1, 1, 5), category('4', 3)]
  expect(bySize(categories).map(({ id }) => id)).toEqual(['3', '2', '4', '1'])
  expect(categories[0]?.id).toBe('1')
})

test('the parts of a bar add up to the share of the largest category', () => {
  expect(barParts({ available: 5, pending: 3, sold: 2 }, 20)).toEqual({
    available: 25,
    pending: 15,
    sold: 10,
  })
  expect(barParts({ available: 0, pending: 0, sold: 0 }, 0)).toEqual({ available: 0, pending: 0, sold: 0 })
})

test.each([
  { count: 0, all: 0, text: '0%' },
  { count: 0, all: 9, text: '0%' },
  { count: 1, all: 1_000, text: 'less than 1%' },
  { count: 999, all: 1_000, text: 'more than 99%' },
  { count: 2, all: 3, text: '67%' },
  { count: 3, all: 3, text: '100%' },
])('$count of $all pets are "$text"', ({ count, all, text }) => {
  expect(shareText(count, all)).toBe(text)
})
