// Defects of the demo shop, and of the page for an address that does not exist.
import type { Defect } from './defect.ts'

const SHOP = 'test/cli/demo-shop.test.ts'
const ROUTES = 'test/contract/routes.test.ts'

export const DEMO_DEFECTS: readonly Defect[] = [
  {
    name: 'the events of the demo shop keep the time at which it was added',
    file: 'src/data/demo/demo-shop.ts',
    find: '    await setBackEvents(tx, requests)\n',
    replace: '',
    test: SHOP,
    title: 'its figures per day equal its pets, sales and inventory',
  },
  {
    name: 'a demo order does not hold its pet',
    file: 'src/data/demo/demo-shop.ts',
    find: `      await setPetStatus(tx, petId, 'pending', actor)\n`,
    replace: '',
    test: SHOP,
    title: '`petstore verify` and the audits of the tests find no fault',
  },
  {
    name: 'the end of a demo order has no entry in the history of its pet',
    file: 'src/data/demo/queries.ts',
    find: 'from ended`,\n        )}',
    replace: 'from ended where false`,\n        )}',
    test: SHOP,
    title: '`petstore verify` and the audits of the tests find no fault',
  },
  {
    name: 'the facts about a demo pet depend on the day',
    file: 'src/data/demo/demo-past.ts',
    find: 'random: seeded(index + 1)',
    replace: 'random: seeded(index + describedAt)',
    test: SHOP,
    title: 'the same pets are sold and held at the same prices, whenever the shop is opened',
  },
  {
    name: 'a step of the demo shop is in the future early in the day',
    file: 'src/data/demo/demo-past.ts',
    find: 'Math.min(date.setHours(CLOSES_AT), now.getTime() - 10 * MINUTE_MS)',
    replace: 'date.setHours(CLOSES_AT)',
    test: SHOP,
    title: 'its past is possible, at every time of the day and of the year',
  },
  {
    name: 'a program gets a page instead of the Error body',
    file: 'src/http/errors.ts',
    find: "isNamed(request.headers.accept, 'text/html')",
    replace: 'request.headers.accept !== undefined',
    test: ROUTES,
    title: 'a program gets the Error body instead of the page, and so does every other method',
  },
  {
    name: 'a browser gets a page under /v1',
    file: 'src/server/app.ts',
    find: 'app.setErrorHandler(errorSender(options.publicUrl))',
    replace: 'app.setErrorHandler(errorSender(options.publicUrl, notFoundPage()))',
    test: ROUTES,
    title: 'under /v1, a browser gets the Error body too',
  },
  {
    name: 'caches give programs the page for an address that does not exist',
    file: 'src/http/errors.ts',
    find: "    if (canShowPage) varyBy(reply, 'Accept')\n",
    replace: '',
    test: ROUTES,
    title: 'shows a page in a browser',
  },
]
