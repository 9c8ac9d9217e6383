// A price that a person types, with its currency next to it. It says how it reads an amount that can be read in two ways.
import { Text, TextInput, type TextInputProps } from '@mantine/core'
import { shopCurrency } from '../shop/shop.ts'
import { amountText, hasThousands, readAmount } from './price.ts'

/** `currency` is that of a stored price, or of the shop as soon as the person types. */
export function PriceField({ currency, description, ...props }: TextInputProps & { currency: string }) {
  const echo = echoOf(String(props.value ?? ''), currency)
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
      // Below the amount, so that what the person types does not move.
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      description={echo ?? description}
      {...props}
    />
  )
}

/** Such as "Becomes €1,150.00." */
function echoOf(typed: string, currency: string): string | undefined {
  const amount =
    currency === shopCurrency().code && hasThousands(typed) ? readAmount(typed, shopCurrency()) : undefined
  return amount && `Becomes ${amountText({ currency, amount })}.`
}
