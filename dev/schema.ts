// The tables that the migrations create, and which folders of src/ write to each: for docs/schema.md. Reads the text of the
// migrations, because `npm run check` has no database; test/docs/schema.test.ts compares the result with one.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

export interface Column {
  name: string
  type: string
  isNullable: boolean
  isKey: boolean
  /** The table that a foreign key refers to. */
  references: string | undefined
  comment: string
}

export interface Table {
  name: string
  comment: string
  columns: Column[]
  /** Folders of src/, and tables whose triggers write to this one. */
  writers: string[]
  triggersOf: string[]
}

/** The tables of one migration. */
export interface Subject {
  file: string
  comment: string
  tables: Table[]
}

export function readSchema(): Subject[] {
  const files = readdirSync(join(ROOT, 'migrations')).sort()
  const texts = files.map((file) => readFileSync(join(ROOT, 'migrations', file), 'utf8'))
  const comments = new Map(texts.flatMap(tableComments))
  const writers = foldersByTable()
  const triggers = triggersByTable(texts.join('\n'))
  return files.map((file, index) => {
    const text = texts[index] ?? ''
    const tables = [...text.matchAll(/^create table (\w+) \(\n(.*?)^\)/gms)].map(
      ([, name = '', body = '']) => ({
        name,
        comment: comments.get(name) ?? '',
        columns: readColumns(body),
        writers: writers.get(name) ?? [],
        triggersOf: triggers.get(name) ?? [],
      }),
    )
    return { file, comment: uncommented(/^(--.*\n)+/.exec(text)?.[0] ?? ''), tables }
  })
}

function tableComments(text: string): [name: string, comment: string][] {
  const found = text.matchAll(/^comment on table (\w+) is '((?:[^']|'')*)';$/gm)
  return [...found].map(([, name = '', comment = '']) => [name, comment.replaceAll("''", "'")])
}

/** Without the dashes, in one line. */
const uncommented = (lines: string) =>
  lines
    .replaceAll(/^\s*--/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** A column starts with two spaces. The comment above it is about this column. */
function readColumns(body: string): Column[] {
  const [, key = ''] = /^ {2}primary key \((.*)\)/m.exec(body) ?? []
  const keys = key.split(', ')
  const lines = body.matchAll(
    /((?:^ {2}--.*\n)*)^ {2}(?!(?:check|constraint|primary|unique|foreign)\b)(\w+) ([\w[\]]+)(.*)$/gm,
  )
  return [...lines].map(([, comment = '', name = '', type = '', rest = '']) => {
    const isKey = keys.includes(name) || rest.includes('primary key')
    const references = /references (\w+)/.exec(rest)?.[1]
    const isNullable = !isKey && !rest.includes('not null')
    return { name, type, isNullable, isKey, references, comment: uncommented(comment) }
  })
}

const writtenTables = (sql: string) =>
  [...sql.matchAll(/\b(?:insert into|update|delete from|copy) (\w+)/g)].map(([, name = '']) => name)

/** Without the demo shop, which makes up a past. */
function foldersByTable(): Map<string, string[]> {
  const folders = new Map<string, Set<string>>()
  for (const file of globSync('src/**/*.ts', { cwd: ROOT }).sort()) {
    if (file.startsWith('src/data/demo/')) continue
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
    for (const name of writtenTables(code)) {
      folders.set(name, (folders.get(name) ?? new Set()).add(dirname(file)))
    }
  }
  return new Map([...folders].map(([name, found]) => [name, [...found]]))
}

/** For each table, the tables whose triggers write to it. */
function triggersByTable(sql: string): Map<string, string[]> {
  const functions = new Map(
    [...sql.matchAll(/^create function (\w+)\(\) returns trigger .*?\$\$(.*?)\$\$;/gms)].map(
      ([, name = '', body = '']) => [name, writtenTables(body)],
    ),
  )
  const triggers = sql.matchAll(
    /^create (?:constraint )?trigger \w+ .*? on (\w+)\n.*?execute function (\w+)/gms,
  )
  const sources = new Map<string, Set<string>>()
  for (const [, table = '', name = ''] of triggers) {
    for (const written of functions.get(name) ?? [])
      sources.set(written, (sources.get(written) ?? new Set()).add(table))
  }
  return new Map([...sources].map(([name, found]) => [name, [...found].sort()]))
}
