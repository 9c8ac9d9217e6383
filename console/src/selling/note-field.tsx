// The note of an order, which says who the customer is.
import { TextInput } from '@mantine/core'

/** The limit of the service. */
const LENGTH_MAX = 500

interface Props {
  description: string
  placeholder: string
  value: string
  onChange: (note: string) => void
}

export function NoteField({ onChange, ...props }: Props) {
  return (
    <TextInput
      label="Note"
      maxLength={LENGTH_MAX}
      data-autofocus
      // Also in a dialog that shows this field only after it has loaded.
      autoFocus
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  )
}
