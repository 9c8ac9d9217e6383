// Planted defects of the search by word.
import type { Defect } from './defect.ts'

const QUERIES = 'src/store/pets/queries.ts'
const TEST = 'test/store/pets-word-search.test.ts'
const FINDS = 'the word "'
const LIMITED = 'a page examines a limited number of pets that have the word'

export const WORD_DEFECTS: readonly Defect[] = [
  {
    name: 'a search by word looks at whole names',
    file: 'migrations/0002_pets.sql',
    find: 'left(name, 80)',
    replace: 'name',
    test: TEST,
    title: 'looks at the first 80 characters of a name',
  },
  {
    name: 'a pet is not found by the words after its second one',
    file: 'migrations/0002_pets.sql',
    find: `'' '' || (id >> 15)::text || '':'', ''g''`,
    replace: `'' '' || (id >> 15)::text || '':''`,
    test: TEST,
    title: FINDS,
  },
  {
    name: 'a search by word leaves out a range of ids',
    file: QUERIES,
    find: 'where id < number << ${RANGE_BITS})',
    replace: 'where id < (number - 1) << ${RANGE_BITS})',
    test: TEST,
    title: 'returns each pet once, newest first, across the ranges',
  },
  {
    name: 'the next page of a search by word skips a pet',
    file: QUERIES,
    find: 'where id + 0 < $2 and pet_word_keys',
    replace: 'where id + 1 < $2 and pet_word_keys',
    test: TEST,
    title: 'returns each pet once, newest first, across the ranges',
  },
  {
    name: 'a search by word returns the oldest pets of a range first',
    file: QUERIES,
    find: 'order by id + 0 desc\n            limit ${max}',
    replace: 'order by id + 0\n            limit ${max}',
    test: TEST,
    title: FINDS,
  },
  {
    name: 'a search by word loses the pets after those that a page examines',
    file: 'src/store/pets/pets.ts',
    find: 'next: next ?? (stop && positionOf(stop))',
    replace: 'next',
    test: TEST,
    title: LIMITED,
  },
  {
    name: 'a page of a search by word examines any number of pets',
    file: QUERIES,
    find: 'row_number() over () = ${EXAMINED_MAX} as is_last',
    replace: 'false as is_last',
    test: TEST,
    title: LIMITED,
  },
  {
    name: 'a search for several words finds pets that have only one of them',
    file: QUERIES,
    find: '(select length(pet_word_keys(0, $1)) = 1)',
    replace: '(select length(pet_word_keys(0, $1)) > 0)',
    test: TEST,
    title: FINDS,
  },
  {
    name: 'the console shows no pets after an empty page of a search',
    file: 'console/src/pets/read-on.ts',
    find: 'page.items.length === 0 && page.nextCursor !== undefined',
    replace: 'false',
    test: 'test/console/filters.test.ts',
  },
]
