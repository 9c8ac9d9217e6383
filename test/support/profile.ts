// A profile with a value for every fact. The compiler names a fact that is missing. The store adds the currency.
import type { NewPetProfile } from '../../client/src/petstore.ts'

type FactName = Exclude<keyof NewPetProfile, 'currency'>

export const FULL_PROFILE: { [Fact in FactName]-?: NonNullable<NewPetProfile[Fact]> } = {
  price: '129.00',
  breed: 'Beagle',
  sex: 'female',
  bornOn: '2025-05-31',
  chipNumber: '276098106123456',
  reference: 'SKU-4711 / ä',
  description: 'Calm with children.\nLikes\r\nwater 🐕',
}
