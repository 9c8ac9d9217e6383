// The note of an order in a row of a list.
import { Text } from '@mantine/core'

export function OrderNote({ note }: { note: string | undefined }) {
  return (
    <Text
      className="category"
      size="sm"
      lineClamp={2}
      title={note}
      c={note === undefined ? 'dimmed' : 'inherit'}
    >
      {note ?? 'No note'}
    </Text>
  )
}
