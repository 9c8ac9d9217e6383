// Planted defects of exportPets.
import type { Defect } from './defect.ts'

const ROUTES = 'src/store/pet-export/routes.ts'
const RULES = 'src/store/pet-export/pet-export.ts'
const CONTRACT_TEST = 'test/contract/export-pets.test.ts'
const TEST = 'test/store/pet-export.test.ts'

export const PET_EXPORT_DEFECTS: readonly Defect[] = [
  {
    name: 'an export that fails ends like a complete one',
    file: ROUTES,
    find: '    raw.socket?.resetAndDestroy()\n',
    replace: '    raw.end()\n',
    test: TEST,
    title: 'an export that fails is reset',
  },
  {
    name: 'an export ignores how fast its client reads',
    file: ROUTES,
    find: "if (!raw.write(text)) await once(raw, 'drain', { signal: stop })",
    replace: 'raw.write(text)',
    test: TEST,
    title: 'reads no further pages while the client does not read',
  },
  {
    name: 'an export keeps its place after its client has gone',
    file: ROUTES,
    find: '        end()\n',
    replace: '        if (!reply.raw.closed) end()\n',
    test: TEST,
    title: 'limits the exports per key',
  },
  {
    name: 'an export has no timeout',
    file: 'src/store/pet-export/exports.ts',
    find: 'AbortSignal.timeout(timeoutMs), ',
    replace: '',
    test: TEST,
    title: 'an export that takes too long is reset',
  },
  {
    name: 'an export outlives its key',
    file: 'src/store/pet-export/exports.ts',
    find: ', invalidKey.signal]',
    replace: ']',
    test: TEST,
    title: 'an export is reset within a second of the end of its key',
  },
  {
    name: 'an export that is stopped first waits for the page that it reads',
    file: ROUTES,
    find: 'await Promise.race([stopped, writing()])',
    replace: 'stopped.catch(() => {})\n  await writing()',
    test: TEST,
    title: 'an export is reset within a second of the end of its key',
  },
  {
    name: 'the headers of an export are set before its first page',
    file: ROUTES,
    find: '        const first = await pages.next()\n',
    replace: '        reply.headers(headers)\n        const first = await pages.next()\n',
    test: TEST,
    title: 'a failure of the first page is a normal error response',
  },
  {
    name: 'an export has a page more than its limit',
    file: RULES,
    find: 'limit: Math.min(left, LIST_LIMIT_MAX)',
    replace: 'limit: LIST_LIMIT_MAX',
    test: CONTRACT_TEST,
    title: 'has at most limit pets',
  },
  {
    name: 'an export ends with an empty page, although pets that have the word follow',
    file: RULES,
    find: 'while (after !== undefined && left > 0)',
    replace: 'while (after !== undefined && left > 0 && left < limit)',
    test: TEST,
    title: 'continues after a page without a match',
  },
  {
    name: 'a field with a line break is not quoted in CSV',
    file: 'src/values/csv.ts',
    find: '/[",\\r\\n]/',
    replace: '/[",]/',
    test: CONTRACT_TEST,
    title: 'is a CSV file with a header',
  },
  {
    name: 'an export delays the shutdown until its client has read it',
    file: 'src/store/pet-export/exports.ts',
    find: ' shutdown.signal,',
    replace: '',
    test: TEST,
    title: 'on shutdown, exports have five seconds to finish',
  },
  {
    name: 'the client takes an export that has timed out for complete',
    file: 'client/src/file.ts',
    find: "      if (signal?.aborted || timedOutMs !== undefined) throw new Error('The file is not complete.')\n",
    replace: '',
    test: 'test/client/export.test.ts',
    title: 'fails if no bytes arrive within the timeout',
  },
  {
    name: 'the client counts a line break in the name of an exported pet as another pet',
    file: 'client/src/pet-export.ts',
    find: 'byte === LF && !isQuoted',
    replace: 'byte === LF',
    test: 'test/client/export.test.ts',
    title: 'counts the pets of the file',
  },
]
