// The rows of a file: those that cannot be imported, with the reason, and the first ones that can.
import { Alert, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { categoriesQuery, categoryName } from '../pets/queries.ts'
import { statusText } from '../pets/status-tint.tsx'
import { FACT_NAMES, FACTS } from '../profile/facts.ts'
import { priceText } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { recordText } from './csv.ts'
import type { PetRow, RejectedRow } from './pet-rows.ts'

/** The download contains all of them. */
const REJECTED_SHOWN_MAX = 200
const FIRST_ROWS = 5
const UNNAMED_SHOWN_MAX = 10

export function RejectedRows({ rows }: { rows: RejectedRow[] }) {
  return (
    <section aria-label="Rejected rows">
      <Title order={2} size="h5" mb="xs">
        Rejected rows ({rows.length.toLocaleString('en')})
      </Title>
      <div role="list">
        {rows.slice(0, REJECTED_SHOWN_MAX).map(({ record, reason }) => (
          <div key={record.line} role="listitem" className="rejected-row">
            <Text size="sm" c="dimmed">
              Line {record.line}
            </Text>
            <div>
              <Text size="sm">{reason}</Text>
              <Text size="sm" c="dimmed" truncate title={recordText(record)}>
                {recordText(record)}
              </Text>
            </div>
          </div>
        ))}
      </div>
      {rows.length > REJECTED_SHOWN_MAX && (
        <Text size="sm" c="dimmed" mt="xs">
          These are the first {REJECTED_SHOWN_MAX}. The download contains all.
        </Text>
      )}
    </section>
  )
}

/** The service accepts every number of a category, unless its operator has set CATEGORIES=strict. */
export function UnnamedCategories({ rows }: { rows: PetRow[] }) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  if (categories === undefined) return null
  const named = new Set(categories.filter(({ name }) => name !== undefined).map(({ id }) => id))
  const firstLines = new Map<string, number>()
  for (const { pet, record } of rows) {
    const id = String(pet.categoryId)
    if (!named.has(id) && !firstLines.has(id)) firstLines.set(id, record.line)
  }
  if (firstLines.size === 0) return null
  const shown = [...firstLines].slice(0, UNNAMED_SHOWN_MAX).map(([id, line]) => `${id} (line ${line})`)
  return (
    <Alert color="yellow" role="alert" title="Some categories have no name">
      Check the column categoryId: no category has the {firstLines.size === 1 ? 'number' : 'numbers'}{' '}
      {shown.join(', ')}
      {firstLines.size > UNNAMED_SHOWN_MAX && ' and others'}. The rows are imported unless the store has a
      fixed list of categories.
    </Alert>
  )
}

/** Shows whether the columns are the right ones. */
export function FirstRows({ rows }: { rows: PetRow[] }) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  if (rows.length === 0) return null
  return (
    <section aria-label="First pets">
      <Title order={2} size="h5" mb="xs">
        The first pets
      </Title>
      <div role="list">
        {rows.slice(0, FIRST_ROWS).map(({ record, pet: { name, categoryId, status, profile } }) => (
          <div key={record.line} role="listitem" className="first-row">
            <Text size="sm" fw={600} truncate>
              {name}
            </Text>
            <Text size="sm">
              {[
                categoryName(categories, String(categoryId)),
                status && statusText(status),
                profile && priceText(profile),
                ...FACT_NAMES.filter((fact) => !FACTS[fact].isLong).map((fact) => profile?.[fact]),
              ]
                .filter((text) => text !== undefined)
                .join(' · ')}
            </Text>
          </div>
        ))}
      </div>
    </section>
  )
}
