// The price in the dialogs for a hold and for a sale. It starts with the price of the order or of the pet, and a person can
// agree on another one with the customer.
import type { TextInputProps } from '@mantine/core'
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CURRENCY } from '../profile/currency.ts'
import { askedPrice } from '../profile/price.ts'
import { profileQuery } from '../profile/queries.ts'
import { useStore } from '../session/session.ts'
import { type PriceInput, priceInput } from './price-input.ts'

interface PriceField extends Pick<PriceInput, 'amount' | 'fault'> {
  field: TextInputProps
}

export function usePrice(pet: Pet, order: Order | undefined): PriceField {
  const { data: profile } = useQuery(profileQuery(useStore(), pet.id))
  const [typed, setTyped] = useState<string>()
  const { text, amount, fault, description } = priceInput(askedPrice(order, profile), typed, CURRENCY)
  return {
    amount,
    fault,
    field: {
      value: text,
      error: fault,
      description,
      onChange: (event) => setTyped(event.currentTarget.value),
    },
  }
}
