// The price of a pet and the facts about it, as commands and assistants show them. The compiler names a fact that is missing.
import type { NewPetProfile } from '../../client/src/petstore.ts'
import { NEW_PET_PROFILE } from '../../client/src/rules.ts'
import { WRITABLE_NAMES } from '../contract/profile-fields.ts'
import { lengthText } from './terminal/arguments.ts'

export type FactName = keyof NewPetProfile

interface Fact {
  /** Default: the name, in upper case. */
  heading?: string
  /** The value of its option. Default: <text>. */
  value?: string
  /** The help of its option. */
  help: string
  /** Within a sentence. Default: the name. */
  words?: string
  /** For an assistant. */
  meaning: string
  /** A person can type anything. */
  isFreeText?: boolean
}

const { breed, chipNumber, reference, description } = NEW_PET_PROFILE
export const FACTS: Record<FactName, Fact> = {
  price: {
    value: '<amount>',
    help: 'price in the currency of the store, such as 129.00',
    meaning: 'Price of the pet, such as 129.00.',
  },
  currency: {
    value: '<code>',
    help: 'currency of the price, such as EUR (default: that of the store; required if the stored price has another one)',
    meaning: 'Currency of the price, such as EUR.',
  },
  breed: { help: `breed, ${lengthText(breed)}`, meaning: 'Breed of the pet.', isFreeText: true },
  sex: { value: '<sex>', help: 'sex of the pet', meaning: 'female, male or unknown.' },
  bornOn: {
    heading: 'BORN',
    value: '<date>',
    help: 'date of birth, such as 2025-05-31',
    words: 'date of birth',
    meaning: 'Date of birth.',
  },
  chipNumber: {
    heading: 'CHIP',
    help: `number of the microchip, ${lengthText(chipNumber, 'letters and digits')}`,
    words: 'chip number',
    meaning: 'Number of the microchip.',
  },
  reference: {
    help: `the shop's own id of the pet, ${lengthText(reference)}; no other pet can have the same`,
    meaning: "The shop's own id of the pet.",
    isFreeText: true,
  },
  description: {
    help: `plain text, ${lengthText(description)}`,
    meaning: 'Description of the pet. A long one is cut.',
    isFreeText: true,
  },
}

/** All but the price, with which its currency stands. */
export const OTHER_FACTS = WRITABLE_NAMES.filter((name) => name !== 'price' && name !== 'currency')

/** In the order of a table: free texts are last, because their lengths vary most. */
export const FACT_COLUMNS = (['price', ...OTHER_FACTS] as const).toSorted(
  (one, other) => Number(FACTS[one].isFreeText ?? false) - Number(FACTS[other].isFreeText ?? false),
)
