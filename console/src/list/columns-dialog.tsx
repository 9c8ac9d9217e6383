// Chooses the columns of the list of pets.
import { Button, Checkbox, Stack, Text } from '@mantine/core'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { COLUMNS } from './columns.ts'
import { useColumns } from './use-columns.ts'

export function ColumnsDialog({ onClose }: { onClose: () => void }) {
  const [columns, setColumns] = useColumns()
  return (
    <Dialog title="Columns" onClose={onClose} isShort>
      <Stack>
        {COLUMNS.map(({ id, label }) => (
          <Checkbox
            key={id}
            label={label}
            checked={columns.includes(id)}
            onChange={({ currentTarget }) =>
              setColumns(currentTarget.checked ? [...columns, id] : columns.filter((one) => one !== id))
            }
          />
        ))}
        <Text size="sm" c="dimmed">
          This browser remembers the columns.
        </Text>
        <DialogFoot>
          <Button onClick={onClose}>Done</Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}
