// A price that a person types, with its currency next to it.
import { Text, TextInput, type TextInputProps } from '@mantine/core'

/** `currency` is that of a stored price, or of the shop as soon as the person types. */
export function PriceField({ currency, ...props }: TextInputProps & { currency: string }) {
  return (
    <TextInput
      label="Price"
      inputMode="decimal"
      autoComplete="off"
      maxLength={20}
      rightSectionWidth={56}
      rightSection={
        <Text size="sm" c="dimmed">
          {currency}
        </Text>
      }
      {...props}
    />
  )
}
