// Checks the arguments of a call with the validator of the service, so that its messages are the same.
import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/server'
import { buildValidator } from '../../http/validation.ts'

const validatorOf = buildValidator(undefined)

export const ARGUMENTS: jsonSchemaValidator = {
  getValidator: <Value>({
    additionalProperties: _none,
    ...schema
  }: JsonSchemaType): JsonSchemaValidator<Value> => {
    const validate = validatorOf({ schema, httpPart: 'body' })
    const known = Object.keys(schema.properties ?? {})
    return (input) => {
      const result = validate(input)
      const unknown = Object.keys(Object(input)).filter((name) => !known.includes(name))
      const faults = [
        ...unknown.map((name) => `${JSON.stringify(name.slice(0, 40))} is no argument of this tool.`),
        ...('error' in result ? (result.error.details ?? []).map(({ message }) => message) : []),
      ]
      return faults.length === 0
        ? { valid: true, data: input as Value, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: `${faults.join(' ')} Nothing was changed.` }
    }
  },
}

/** Accepts every result: a result that differs from its schema must not make a change look as if it had failed. */
export const RESULTS: jsonSchemaValidator = {
  getValidator:
    <Value>(): JsonSchemaValidator<Value> =>
    (input) => ({ valid: true, data: input as Value, errorMessage: undefined }),
}
