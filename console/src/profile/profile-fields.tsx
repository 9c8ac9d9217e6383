// The fields of a form for the price and the facts of a pet.
import { Select, Text, Textarea, TextInput } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { NEW_PET_PROFILE } from '@petstore/client/rules'
import { useQuery } from '@tanstack/react-query'
import { dayOf } from '../layout/dates.ts'
import { statusText } from '../pets/status-tint.tsx'
import { useStore } from '../session/session.ts'
import { shopCurrency } from '../shop/shop.ts'
import { FACT_NAMES, FACTS, SEXES, sexText } from './facts.ts'
import { PriceField } from './price-field.tsx'
import { chipNumberOf, isOtherCurrency, type ProfileValues } from './profile-values.ts'
import { chipQuery } from './queries.ts'

/** Asks for the chip number after a short pause in typing. */
const ASKED_AFTER_MS = 300
/** Chip numbers are 40 characters long at most. In groups, they have spaces too. */
const CHIP_NUMBER_TYPED_MAX = 60

/** The facts that are any text of one line. */
const SHORT_TEXTS = FACT_NAMES.flatMap((name) => {
  const rules = NEW_PET_PROFILE[name]
  return 'format' in rules && rules.format === 'single-line' ? [[name, rules.maxLength] as const] : []
})

interface Props {
  /** The pet that the form changes. */
  petId: string | undefined
  /** A sold pet has the price of its sale. */
  hasPrice: boolean
  propsOf: (field: keyof ProfileValues) => GetInputPropsReturnType
}

/** In the columns of the form, in the order of the keyboard. */
export function ProfileFields({ petId, hasPrice, propsOf }: Props) {
  return (
    <>
      {hasPrice && <OwnPriceField price={propsOf('price')} currency={propsOf('currency')} />}
      <TextInput
        label="Born on"
        type="date"
        min="1900-01-01"
        max={dayOf(Date.now())}
        {...propsOf('bornOn')}
      />
      {SHORT_TEXTS.map(([name, maxLength]) => (
        <TextInput key={name} label={FACTS[name].label} maxLength={maxLength} {...propsOf(name)} />
      ))}
      <SexField {...propsOf('sex')} />
      <ChipNumberField petId={petId} {...propsOf('chipNumber')} />
      <Textarea
        className="whole-row"
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={NEW_PET_PROFILE.description.maxLength}
        {...propsOf('description')}
      />
    </>
  )
}

/** A stored price keeps its currency. A price that a person types is in the currency of the shop. */
function OwnPriceField({ price, currency }: Record<'price' | 'currency', GetInputPropsReturnType>) {
  const isOther = isOtherCurrency(currency.value, shopCurrency().code)
  return (
    <PriceField
      {...price}
      currency={isOther ? currency.value : shopCurrency().code}
      description={
        isOther
          ? `Stored in ${currency.value}. A price that you type is in ${shopCurrency().code}.`
          : undefined
      }
      onChange={(event) => {
        price.onChange(event)
        currency.onChange(shopCurrency().code)
      }}
    />
  )
}

function SexField({ value, onChange, ...props }: GetInputPropsReturnType) {
  return (
    <Select
      label="Sex"
      placeholder="Not stated"
      clearable
      data={SEXES.map((sex) => ({ value: sex, label: sexText(sex) }))}
      value={value === '' ? null : value}
      onChange={(sex) => onChange(sex ?? '')}
      {...props}
    />
  )
}

/** Warns about a number that another pet has, because it was probably mistyped. */
function ChipNumberField({ petId, ...props }: GetInputPropsReturnType & { petId: string | undefined }) {
  const [chipNumber] = useDebouncedValue(chipNumberOf(String(props.value)), ASKED_AFTER_MS)
  const { data: others = [] } = useQuery(chipQuery(useStore(), chipNumber, petId))
  return (
    <div className="wide-on-phone">
      <TextInput label="Chip number" autoComplete="off" maxLength={CHIP_NUMBER_TYPED_MAX} {...props} />
      <div role="status">
        {others.map(({ id, name, status }) => (
          <Text key={id} size="sm" mt={4} className="field-warning">
            {name} (No. {id}, {statusText(status)}) has this chip number too. Check the number.
          </Text>
        ))}
      </div>
    </div>
  )
}
