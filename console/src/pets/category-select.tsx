// A category by name. Categories without a name are shown by their id.
import { Select, type SelectProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useStore } from '../session/session.ts'
import { categoriesQuery, categoryName } from './queries.ts'

export function CategorySelect({ value, comboboxProps, ...props }: Omit<SelectProps, 'data'>) {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const known = (categories ?? []).map(({ id }) => id)
  // A link can contain a category that no pet has any more.
  const ids = value && !known.includes(value) ? [...known, value] : known
  return (
    <Select
      {...props}
      value={value ?? null}
      data={ids.map((id) => ({ value: id, label: categoryName(categories, id) }))}
      searchable
      limit={100}
      nothingFoundMessage="No such category"
      comboboxProps={{ shadow: 'md', ...comboboxProps }}
    />
  )
}
