// The columns that this browser shows in the list of pets.
import { useLocalStorage } from '@mantine/hooks'
import { type ColumnId, COLUMNS_DEFAULT, COLUMNS_STORAGE, inOrder, readColumns } from './columns.ts'

export function useColumns(): [ColumnId[], (columns: ColumnId[]) => void] {
  const [columns, setColumns] = useLocalStorage({
    key: COLUMNS_STORAGE,
    defaultValue: COLUMNS_DEFAULT,
    getInitialValueInEffect: false,
    serialize: (ids) => ids.join(','),
    deserialize: readColumns,
  })
  return [columns, (ids) => setColumns(inOrder(ids))]
}
