// The price in the dialogs for a hold and for a sale. It starts with the price of the order or of the pet, and a person can
// agree on another one with the customer.
import type { Order, Pet } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useState } from 'react'
import { shopCurrency } from '../shop/shop.ts'
import type { PriceField } from '../profile/price-field.tsx'
import { askedPrice, type Priced } from '../profile/price.ts'
import { profileQuery } from '../profile/queries.ts'
import { useStore } from '../session/session.ts'
import { type PriceInput, priceInput } from './price-input.ts'

interface Price extends Pick<PriceInput, 'fault' | 'amount' | 'currency'> {
  /** The price of the pet is not known yet. */
  isLoading: boolean
  /** What the service gets. */
  given: Priced
  field: Omit<ComponentProps<typeof PriceField>, 'label'>
}

export function usePrice(pet: Pet, order: Order | undefined): Price {
  const { data: profile, isLoading } = useQuery(profileQuery(useStore(), pet.id))
  const [typed, setTyped] = useState<string>()
  const { text, currency, amount, fault, description } = priceInput(
    askedPrice(order, profile),
    typed,
    shopCurrency(),
  )
  return {
    isLoading: isLoading && order?.price === undefined && typed === undefined,
    given: amount === undefined ? {} : { price: amount, currency },
    amount,
    currency,
    fault,
    field: {
      currency,
      value: text,
      error: fault,
      description,
      onChange: (event) => setTyped(event.currentTarget.value),
    },
  }
}
