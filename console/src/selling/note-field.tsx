// The note of an order, which says who the customer is.
import { TextInput } from '@mantine/core'
import { NEW_ORDER } from '@petstore/client/rules'

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
      maxLength={NEW_ORDER.note.maxLength}
      data-autofocus
      // Also in a dialog that shows this field only after it has loaded.
      autoFocus
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  )
}
