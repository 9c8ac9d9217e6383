// Which settings make every standby part of the quorum, and which positions may lie inside a record of the WAL.
import { expect, test } from 'vitest'
import { isPageEnd, isWholeQuorum } from '../../src/db/failover/position.ts'

test.each([
  ['ANY 1 (n2,n3)', 2],
  ['ANY 2 (n2,n3)', 2],
  ['any 1 (n2, n3)', 2],
  ['  ANY  1 ( "n2" , "n3" )  ', 2],
  ['ANY 1 (n2,n3,n4)', 3],
  ['ANY 1 (n2)', 1],
  // Each standby must confirm.
  ['FIRST 2 (n2,n3)', 2],
  ['2 (n2,n3)', 2],
  ['FIRST 1 (n2)', 1],
  ['n2', 1],
])('the quorum "%s" has all of %i standbys', (names, standbys) => {
  expect(isWholeQuorum(names, standbys)).toBe(true)
})

test.each([
  ['', 1],
  ['', 2],
  [' ', 1],
  ['*', 1],
  ['ANY 1 (*)', 1],
  ['ANY 1 ("*")', 1],
  ['ANY 2 (n2,*)', 2],
  ['ANY 2 (n2,"N2")', 2],
  ['ANY 1 (n2)', 2],
  ['ANY 1 (n2,n2)', 2],
  ['ANY 1 (n2,n3)', 1],
  ['ANY 1 (n2,n3,n4)', 2],
  ['n2', 2],
  // The second one does not confirm while the first one does.
  ['n2,n3', 2],
  ['1 (n2,n3)', 2],
  ['FIRST 1 (n2,n3)', 2],
  ['first 2 (n2,n3,n4)', 3],
])('the quorum "%s" has not exactly %i standbys', (names, standbys) => {
  expect(isWholeQuorum(names, standbys)).toBe(false)
})

test.each([
  ['0/2000', true],
  ['0/0', true],
  ['1A/FFFFE000', true],
  ['1/0', true],
  ['0/1000', false],
  ['0/2008', false],
  ['2000/1FF8', false],
])('%s is at the end of a page: %s', (lsn, isEnd) => {
  expect(isPageEnd(lsn)).toBe(isEnd)
})
