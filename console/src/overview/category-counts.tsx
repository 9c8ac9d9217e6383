// The categories with the number of pets in each status. Each number opens the list of these pets.
import { ActionIcon, Button, Text } from '@mantine/core'
import type { Category } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { EditIcon } from '../layout/icons.tsx'
import { drawingOf, PetDrawing } from '../pets/drawings.tsx'
import { STATUSES } from '../pets/filters.ts'
import { CATEGORIES_MAX, categoriesQuery, categoryName } from '../pets/queries.ts'
import { statusText } from '../pets/status-tint.tsx'
import { useScopes, useStore } from '../session/session.ts'
import { barParts, bySize, petsIn } from '../pets/category-order.ts'
import { countText } from './day-chart-shape.ts'
import { LoadingSection, Section } from '../layout/section.tsx'

const CategoryDialog = lazy(() =>
  import('../categories/category-dialog.tsx').then((file) => ({ default: file.CategoryDialog })),
)

const TITLE = 'Pets by category'
const SHOWN_FIRST = 20

export function CategoryCounts() {
  const { data: categories, error, isPending, refetch } = useQuery(categoriesQuery(useStore()))
  const [isComplete, setComplete] = useState(false)
  const [editedId, setEditedId] = useState<string>()
  const canEdit = useScopes().has('pets:write')
  const edited = categories?.find(({ id }) => id === editedId)
  if (isPending) return <LoadingSection title={TITLE} height={360} />
  if (categories === undefined) {
    return (
      <Section isCard title={TITLE}>
        {error && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      </Section>
    )
  }
  const sorted = bySize(categories)
  const largest = Math.max(0, ...sorted.map(({ counts }) => petsIn(counts)))
  const shown = isComplete ? sorted : sorted.slice(0, SHOWN_FIRST)
  return (
    <Section isCard title={TITLE}>
      <table className="category-table">
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              Category
            </th>
            <td className="bar-cell wide" />
            {STATUSES.map((status) => (
              <th key={status} scope="col">
                <span className={`status-mark status-fill-${status}`} aria-hidden="true" />{' '}
                {statusText(status)}
              </th>
            ))}
            <th scope="col" className="wide">
              All
            </th>
            {canEdit && <td className="edit" />}
          </tr>
        </thead>
        <tbody>
          {shown.map((category) => (
            <CategoryRow
              key={category.id}
              category={category}
              categories={categories}
              largest={largest}
              onEdit={canEdit ? setEditedId : undefined}
            />
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN_FIRST && (
        <Button variant="default" mt="sm" aria-expanded={isComplete} onClick={() => setComplete(!isComplete)}>
          {isComplete ? `Show the largest ${SHOWN_FIRST}` : `Show all ${countText(sorted.length)} categories`}
        </Button>
      )}
      {categories.length === CATEGORIES_MAX && (
        <Text size="sm" c="dimmed" mt="xs">
          Only the first {countText(CATEGORIES_MAX)} categories are counted here.
        </Text>
      )}
      <Suspense>
        {edited && <CategoryDialog category={edited} onClose={() => setEditedId(undefined)} />}
      </Suspense>
    </Section>
  )
}

interface RowProps {
  category: Category
  categories: Category[]
  largest: number
  /** Undefined if the key does not allow it. */
  onEdit: ((id: string) => void) | undefined
}

function CategoryRow({ category: { id, counts }, categories, largest, onEdit }: RowProps) {
  const name = categoryName(categories, id)
  const parts = barParts(counts, largest)
  return (
    <tr>
      <td className="drawing-cell">
        <PetDrawing shown={drawingOf(categories, id)} size={26} />
      </td>
      <th scope="row">
        <AnchorLink
          to="/"
          search={{ category: id }}
          underline="hover"
          inherit
          truncate
          display="block"
          title={name}
        >
          {name}
        </AnchorLink>
      </th>
      <td className="bar-cell wide">
        <div className="category-bar" aria-hidden="true">
          {STATUSES.map(
            (status) =>
              counts[status] > 0 && (
                <div
                  key={status}
                  className={`status-fill-${status}`}
                  style={{ width: `${parts[status]}%` }}
                />
              ),
          )}
        </div>
      </td>
      {STATUSES.map((status) => (
        <td key={status}>
          {counts[status] === 0 ? (
            <div className="zero">0</div>
          ) : (
            <AnchorLink
              to="/"
              search={{ category: id, status }}
              underline="hover"
              inherit
              aria-label={`${name}, ${statusText(status)}: ${countText(counts[status])}`}
            >
              {countText(counts[status])}
            </AnchorLink>
          )}
        </td>
      ))}
      <td className="wide">
        <div className="zero">{countText(petsIn(counts))}</div>
      </td>
      {onEdit && (
        <td className="edit">
          <ActionIcon
            id={`edit-category-${id}`}
            size={36}
            aria-label={`Edit ${name}`}
            aria-haspopup="dialog"
            onClick={() => onEdit(id)}
          >
            <EditIcon size={16} />
          </ActionIcon>
        </td>
      )}
    </tr>
  )
}
