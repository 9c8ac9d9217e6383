// The note of an order, which says who the customer is.
import { TextInput } from '@mantine/core'
import { NEW_ORDER } from '@petstore/client/rules'

interface Props {
  /** Default: "Note". */
  label?: string
  /** The dialog opens with the focus somewhere else. */
  isNotFirst?: boolean
  description?: string | undefined
  placeholder: string
  value: string
  onChange: (note: string) => void
}

export function NoteField({ onChange, isNotFirst = false, ...props }: Props) {
  return (
    <TextInput
      label="Note"
      maxLength={NEW_ORDER.note.maxLength}
      data-autofocus={!isNotFirst || undefined}
      // Also in a dialog that shows this field only after it has loaded.
      autoFocus={!isNotFirst}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  )
}
