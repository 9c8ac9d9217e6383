// Defects in the prices and sales of the console.
import type { Defect } from './defect.ts'

const SALES = 'test/slow/console-sales.test.ts'

export const CONSOLE_DEFECTS: readonly Defect[] = [
  {
    name: 'the console cuts off decimal places of a price',
    file: 'console/src/profile/price.ts',
    find: 'if (whole === undefined || typed.length > decimals) return undefined',
    replace: 'if (whole === undefined) return undefined',
    test: 'test/console/price.test.ts',
  },
  {
    name: 'the console adds up prices of different currencies',
    file: 'console/src/profile/price.ts',
    find: '.filter((one) => one.currency === currency)',
    replace: '',
    test: 'test/console/price.test.ts',
  },
  {
    name: 'the console shows the price of the pet instead of the agreed one',
    file: 'console/src/profile/price.ts',
    find: 'order?.price === undefined ? profile : order',
    replace: 'profile ?? order',
    test: 'test/console/price.test.ts',
  },
  {
    name: 'the page of sales leaves out the last day',
    file: 'console/src/sales/range.ts',
    find: 'startOfDay(addDays(to, 1))',
    replace: 'startOfDay(to)',
    test: 'test/console/sales.test.ts',
  },
  {
    name: 'the page of sales adds up fewer days than it shows',
    file: 'console/src/sales/day-sales.ts',
    find: 'if (first === undefined || range.from < first) return undefined',
    replace: 'if (first === undefined) return undefined',
    test: 'test/console/sales.test.ts',
  },
  {
    name: 'a note in the CSV file runs as a formula',
    file: 'console/src/sales/csv.ts',
    find: "FORMULA.test(text) ? `'${text}` : text",
    replace: 'text',
    test: 'test/console/sales.test.ts',
  },
  {
    name: 'a form of the console overwrites the price of another person',
    file: 'console/src/pets/save-pet.ts',
    find: 'ifMatch: profile?.etag ?? NO_PROFILE',
    replace: 'ifMatch: profile === undefined ? NO_PROFILE : undefined',
    test: SALES,
    title: 'a price that another person changes',
  },
  {
    name: 'the list of the console ignores events of prices',
    file: 'console/src/live/apply-events.ts',
    find: '(profiles) => profiles && { ...profiles, [petId]: profile }',
    replace: '(profiles) => profiles && { ...profiles, [petId]: profiles[petId] ?? { petId } }',
    test: SALES,
    title: 'a price that another person changes',
  },
  {
    name: 'the console warns about the chip number of a sold pet',
    file: 'console/src/profile/queries.ts',
    find: "id !== ownId && status !== 'sold'",
    replace: "id !== ownId && status !== 'x'",
    test: SALES,
    title: 'warns about a chip number',
  },
]
