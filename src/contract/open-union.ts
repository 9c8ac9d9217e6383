// A union of objects by their `type` that is open for types of later versions, as openapi.json describes it. Only for the
// document: the service writes such objects with one schema that has the fields of all of them.
import { type TProperties, type TSchema, Type } from 'typebox'

export interface Variant {
  /** The name of its schema in openapi.json. */
  name: string
  type: string
  /** The fields besides `type`. */
  fields: TProperties
}

export interface OpenUnion {
  /** The schemas of the variants, and of the objects of unknown types. */
  parts: (TSchema & object)[]
  /** The union itself, by its name in openapi.json. */
  union: Record<string, object>
}

/** The name of the variant of a type: `pet.profile_updated` becomes `PetProfileUpdatedEvent`. */
export function nameOfType(type: string, ending: string): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}${ending}`
}

/**
 * A value of the discriminator that no object has. Generators of code turn it into the type of `type` in the last variant,
 * so that a comparison with a known type leaves only the variant of this type. For a validator, which ignores
 * discriminators, `type` of the last variant is any other text.
 */
export const FUTURE_TYPE = '(a type of a later version)'

export function openUnion(
  name: string,
  description: string,
  variants: readonly Variant[],
  future: Omit<Variant, 'type'>,
): OpenUnion {
  const known = variants.map(({ type }) => type)
  const parts = variants.map(({ name: $id, type, fields }) =>
    Type.Object({ type: Type.Unsafe<string>({ type: 'string', enum: [type] }), ...fields }, { $id }),
  )
  const unknown = Type.Object(
    { type: Type.Unsafe<string>({ type: 'string', not: { enum: known } }), ...future.fields },
    {
      $id: future.name,
      description:
        'Has a type that a later version of the service has added. No `type` is the text in parentheses that the discriminator names: it is there for generators of code.',
    },
  )
  const reference = (part: string) => `#/components/schemas/${part}`
  const mapping = variants.map((variant) => [variant.type, reference(variant.name)])
  const union = {
    description,
    oneOf: [...variants, future].map((variant) => ({ $ref: reference(variant.name) })),
    discriminator: {
      propertyName: 'type',
      mapping: { ...Object.fromEntries(mapping), [FUTURE_TYPE]: reference(future.name) },
    },
  }
  return { parts: [...parts, unknown], union: { [name]: union } }
}
