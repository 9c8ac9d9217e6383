// Imports that the rules of test/dependencies.test.ts forbid.
import type { Defect } from './defect.ts'

const TEST = 'test/dependencies.test.ts'

export const DEPENDENCY_DEFECTS: readonly Defect[] = [
  {
    name: 'the store imports the event feed',
    file: 'src/store/figures/figures.ts',
    find: `import { type DayFigures, DAYS_MAX, type Figures } from './schema.ts'`,
    replace: `import '../../events/feed/format.ts'\nimport { type DayFigures, DAYS_MAX, type Figures } from './schema.ts'`,
    test: TEST,
    title: 'src/store imports only from lower levels',
  },
  {
    name: 'a lower folder imports a type of a higher one',
    file: 'src/telemetry/build-info.ts',
    find: `import { VERSION } from '../values/version.ts'`,
    replace: `import type {} from '../db/database.ts'\nimport { VERSION } from '../values/version.ts'`,
    test: TEST,
    title: 'src/telemetry imports only from lower levels',
  },
  {
    name: '`serve` loads the sender of webhooks',
    file: 'src/server/listen.ts',
    find: 'import ',
    replace: `import '../events/delivery/sender.ts'\nimport `,
    test: TEST,
    title: '`serve` loads nothing of events/delivery',
  },
  {
    name: 'a statement uses HTTP',
    file: 'src/store/figures/queries.ts',
    find: `from '../../db/database.ts'`,
    replace: `from '../../db/database.ts'\nimport '../../http/etag.ts'`,
    test: TEST,
    title: 'statements know nothing of HTTP',
  },
  {
    name: 'two files import each other',
    file: 'src/store/figures/schema.ts',
    find: `import { Type } from 'typebox'`,
    replace: `import { Type } from 'typebox'\nimport type {} from './figures.ts'`,
    test: TEST,
    title: 'no files import each other in a circle',
  },
  {
    name: 'two folders import each other',
    file: 'src/store/history/history.ts',
    find: `from './queries.ts'`,
    replace: `from './queries.ts'\nimport type {} from '../holds/queries.ts'`,
    test: TEST,
    title: 'no two folders of src, lab, the client or the console import each other',
  },
  {
    name: 'dependency-cruiser does not read the database folder',
    file: TEST,
    find: `doNotFollow: { path: 'node_modules' },`,
    replace: `doNotFollow: { path: 'node_modules' },\n    exclude: { path: '^src/db/' },`,
    test: TEST,
    title: 'dependency-cruiser reads every file',
  },
]
