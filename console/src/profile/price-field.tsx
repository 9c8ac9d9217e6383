// A price that a person types, with the currency of the shop next to it.
import { Text, TextInput, type TextInputProps } from '@mantine/core'
import { CURRENCY } from './currency.ts'

export function PriceField(props: TextInputProps) {
  return (
    <TextInput
      label="Price"
      inputMode="decimal"
      autoComplete="off"
      maxLength={20}
      rightSectionWidth={56}
      rightSection={
        <Text size="sm" c="dimmed">
          {CURRENCY.code}
        </Text>
      }
      {...props}
    />
  )
}
