// Defects in the errors that clients see: their messages, their details and their links.
import type { Defect } from './defect.ts'

const JSON_FAULTS = 'test/http/hostile-json.test.ts'

export const MESSAGE_DEFECTS: readonly Defect[] = [
  {
    name: 'the link to the help replaces the links of getPet',
    file: 'src/http/errors.ts',
    find: `[reply.getHeader('link') ?? [], link].flat().join(', ')`,
    replace: 'link',
    test: 'test/contract/get-pet.test.ts',
  },
  {
    name: 'errors outside of Fastify have no link to the help',
    file: 'src/http/errors.ts',
    find: '    ...helpLink(pagesOrigin, code),\n',
    replace: '',
    test: 'test/store/pets-get.test.ts',
  },
  {
    name: 'the link to the help ignores PUBLIC_URL',
    file: 'src/http/errors.ts',
    find: '`<${pagesOrigin}${ERRORS_PAGE}#${code}>; rel="help"`',
    replace: '`<${ERRORS_PAGE}#${code}>; rel="help"`',
    test: 'test/store/pets-get.test.ts',
  },
  {
    name: 'a key of the other environment is only called invalid',
    file: 'src/access/api-keys/format.ts',
    find: 'if (!text.startsWith(PREFIXES[other])) return undefined',
    replace: `if (text !== '') return undefined`,
    test: 'test/security/credentials.test.ts',
  },
  {
    name: 'the 401 says that a well-formed key does not exist',
    file: 'src/http/authentication.ts',
    find: 'throw invalidApiKey(explainInvalidApiKey(text))',
    replace: 'throw invalidApiKey(explainInvalidApiKey(text) ?? `No key ends with ${text.slice(-4)}.`)',
    test: 'test/security/credentials.test.ts',
  },
  {
    name: 'the 403 does not name the scope',
    file: 'src/http/authentication.ts',
    find: "${lacking.join(' and ')}, which",
    replace: '${lacking.length}, which',
    test: 'test/security/scopes.test.ts',
  },
  {
    name: 'an empty id in a path is looked up',
    file: 'src/http/unknown-routes.ts',
    find: `is404 || Object.values(params as object).includes('')`,
    replace: 'is404 || params === null',
    test: 'test/contract/routes.test.ts',
  },
  {
    name: 'If-Match without quotes is compared',
    file: 'src/http/etag.ts',
    find: `return text.trim() === '*' ||`,
    replace: `return text !== '' ||`,
    test: 'test/store/pets-update.test.ts',
  },
  {
    name: 'a parameter that is sent twice is called malformed',
    file: 'src/http/validation.ts',
    find: 'Array.isArray(data) && OF_ONE_VALUE.has(keyword)',
    replace: 'Array.isArray(data) && OF_ONE_VALUE.has(`no ${keyword}`)',
    test: 'test/contract/list-pets.test.ts',
  },
  {
    name: 'every pattern means that a text is blank',
    file: 'src/http/validation.ts',
    find: 'pattern === NOT_BLANK',
    replace: 'pattern !== undefined',
    test: 'test/http/validation.test.ts',
  },
  {
    name: 'the column of malformed JSON counts bytes',
    file: 'src/http/json-fault.ts',
    find: 'else if (!isContinuation(body[at])) position.column += 1',
    replace: 'else position.column += 1',
    test: JSON_FAULTS,
  },
  {
    name: 'the position of malformed JSON is inside an invalid character',
    file: 'src/http/json-fault.ts',
    find: '  while (isContinuation(decoded[at])) at -= 1\n',
    replace: '',
    test: JSON_FAULTS,
  },
  {
    name: 'the log of streams replaces the hooks of their route',
    file: 'src/http/access-log.ts',
    find: 'route.preHandler = [recordOnClose, ...[route.preHandler ?? []].flat()]',
    replace: 'route.preHandler = recordOnClose',
    test: 'test/http/access-log.test.ts',
  },
  {
    name: 'all deprecated operations are removed on one day',
    file: 'src/cli/api-keys.ts',
    find: 'daysUntil(REMOVALS[use.operation])',
    replace: `daysUntil(REMOVALS['getPet'])`,
    test: 'test/cli/api-keys.test.ts',
    title: 'the days until the removal of each operation',
  },
  {
    name: 'the console rounds the id of a personal key',
    file: 'console/src/session/personal-key.ts',
    find: `idIn(json, 'id')`,
    replace: 'String((JSON.parse(json) as { id: number }).id)',
    test: 'test/console/personal-key.test.ts',
  },
]
