// Schemas with a name in openapi.json: how other schemas and operations refer to them, and the types of responses.
import { type Static, type TSchema, Type } from 'typebox'

/** Refers to a schema by its `$id`, so that openapi.json contains the schema once. */
export function refTo<Schema extends TSchema & object>(schema: Schema) {
  const { $id } = schema as { $id?: string }
  if ($id === undefined) throw new Error('a schema that others refer to needs an $id')
  return Type.Unsafe<Static<Schema>>({ $ref: `${$id}#` })
}

/** Marks the schema of a body that can be missing. */
export function optionalBody<Schema extends TSchema & object>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ ...schema, 'x-optional': true })
}

export function isOptionalBody(schema: unknown): boolean {
  return (schema as { 'x-optional'?: true } | undefined)?.['x-optional'] === true
}

/** The same schema for a value that can also be null. */
export function orNull<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] }
  const nullable = { ...schema, type: [type, 'null'], ...(values && { enum: [...values, null] }) }
  return Type.Unsafe<Static<Schema> | null>(nullable)
}

/** What the code returns for a schema. An optional field may also be explicitly undefined, and no list is changed. */
export type ResponseOf<Schema extends TSchema> = ResponseValue<Static<Schema>>

type ResponseValue<Value> = Value extends string | number | bigint | boolean | Date | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly ResponseValue<Item>[]
    : {
        [Name in keyof Value]: Pick<Value, Name> extends Required<Pick<Value, Name>>
          ? ResponseValue<Value[Name]>
          : ResponseValue<Value[Name]> | undefined
      }
