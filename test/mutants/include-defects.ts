// Planted defects of the parameter `include`.
import type { Defect } from './defect.ts'

const TABLE = 'src/store/pets/included.ts'
const TEST = 'test/contract/include.test.ts'

export const INCLUDE_DEFECTS: readonly Defect[] = [
  {
    name: 'a pet has what nobody has asked to include',
    file: TABLE,
    find: 'case when ${include} & ${1 << index} <> 0 then',
    replace: 'case when ${include} <> 0 then',
    test: TEST,
  },
  {
    name: 'the next page includes nothing',
    file: 'src/store/pets/routes.ts',
    find: "            include: words?.join(','),\n",
    replace: '',
    test: TEST,
    title: 'the pages of a list keep what they include',
  },
  {
    name: 'the link to the first page leads to the next one',
    file: 'src/contract/paging.ts',
    find: 'const first = `<${address}${given && `?${given}`}>; rel="first"`',
    replace: 'const first = `<${address}?${given}&cursor=x>; rel="first"`',
    test: 'test/contract/paging.test.ts',
  },
  {
    name: 'If-None-Match compares strongly',
    file: 'src/http/etag.ts',
    find: "tag.trim().replace(/^W\\//, '')",
    replace: 'tag.trim()',
    test: 'test/store/conditional-reads.test.ts',
  },
  {
    name: 'an error is 304 with If-None-Match: *',
    file: 'src/http/conditional-reads.ts',
    find: 'isDone || reply.statusCode !== 200',
    replace: 'isDone',
    test: 'test/store/conditional-reads.test.ts',
  },
  {
    name: 'a page of the events of one pet skips events',
    file: 'src/events/feed/feed.ts',
    find: 'page = await find(types, last.number, EVENTS_LIMIT_MAX, maxBytes)',
    replace: 'page = await find(types, last.number + 1n, EVENTS_LIMIT_MAX, maxBytes)',
    test: 'test/events/feed.test.ts',
  },
  {
    name: 'the next page of the events of one pet starts after all that were read',
    file: 'src/events/feed/feed.ts',
    find: 'return { events: eventsOf(events, page, options), next: { epoch: page.epoch, number } }',
    replace:
      'return { ...toPage(page, options), events: eventsOf(events, page, { ...options, limit: Number(number) }) }',
    test: 'test/events/feed.test.ts',
    title: 'the events of one pet',
  },
  {
    name: 'a count of more than 10,000 pets says that it is exact',
    file: 'src/store/pets/pets.ts',
    find: 'more: matching > COUNTED_MAX || examined === max',
    replace: 'more: matching > max || examined > max',
    test: 'test/store/pet-filters.test.ts',
    title: 'a count is exact',
  },
  {
    name: 'a change of the profile does not change updatedAt',
    file: TABLE,
    find: 'where (pet_id, id) <= (${pet}.id, ${INT64_MAX}) and (pet_id, id) >= (${pet}.id, 0)',
    replace: 'where pet_id = ${pet}.id and to_profile is null',
    test: TEST,
    title: 'has the times of the creation and of the last change',
  },
  {
    name: 'a pet with its profile has the ETag of the pet alone',
    file: 'src/http/etag.ts',
    find: "return `\"${version}-${hash('sha256', json, 'base64url').slice(0, HASH_LENGTH)}\"`",
    replace: 'return json === undefined ? json : etag(version)',
    test: TEST,
    title: 'the ETag of one pet',
  },
]
