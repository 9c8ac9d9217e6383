// The price in the dialogs for a hold and for a sale. It starts with the price of the order or of the pet, and a person can
// agree on another one with the customer.
import type { TextInputProps } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CURRENCY } from '../profile/currency.ts'
import { askedPrice, priceText, readAmount } from '../profile/price.ts'
import { priceFault } from '../profile/profile-values.ts'
import { profileQuery } from '../profile/queries.ts'
import { useStore } from '../session/session.ts'

interface PriceInput {
  field: TextInputProps
  /** Undefined without a price, and until the price of the pet is known. The service then takes that of the pet. */
  amount: string | undefined
  fault: string | undefined
}

export function usePrice(pet: Pet, order: Order | undefined): PriceInput {
  const { data: profile } = useQuery(profileQuery(useStore(), pet.id))
  const { code, decimals } = CURRENCY
  const [typed, setTyped] = useState<string>()
  const asked = askedPrice(order, profile)
  // The shop can have changed its currency since. A price that is typed now is one of the new currency.
  const stored = asked.currency === code ? asked.price : undefined
  const text = typed ?? stored ?? ''
  const amount = typed === undefined ? stored : readAmount(typed, decimals)
  const isMissing = text.trim() === '' && stored !== undefined
  const fault = isMissing ? 'Enter the price.' : priceFault(typed ?? '', decimals)
  const isOther = asked.price !== undefined && amount !== asked.price
  return {
    amount,
    fault,
    field: {
      value: text,
      error: fault,
      description: isOther ? `The price was ${priceText(asked)}.` : undefined,
      onChange: (event) => setTyped(event.currentTarget.value),
    },
  }
}
