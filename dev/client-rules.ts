// Generates `@petstore/client/rules` from openapi.json: what the service accepts in each field of a body, and in each
// parameter and header. Programs that check or limit what people type then state no limit a second time.
import { type InterfaceDocument, type Schema, sentSchemas } from './client-types.ts'

const KEYWORDS = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'enum',
] as const

const HEAD = `// Written by \`npm run openapi\` from openapi.json; do not edit.
// What the service accepts in each field of a body, and in each parameter and header. Lengths are counted in code points.
`

export function clientRules(document: InterfaceDocument): string {
  const { schemas } = document.components
  const bodies = [...sentSchemas(document)].map((name) => ({ name, fields: schemas[name]?.properties ?? {} }))
  const parameters = Object.values(document.paths)
    .flatMap((verbs) => Object.values(verbs))
    .map(({ operationId: name, parameters: all = [] }) => {
      const chosen = all.filter((parameter) => parameter.in !== 'path')
      return {
        name,
        fields: Object.fromEntries(chosen.map((parameter) => [parameter.name, parameter.schema])),
      }
    })
  const constants = [...bodies, ...parameters].flatMap(({ name, fields }) => {
    const lines = Object.entries(fields).flatMap(([field, schema]) => {
      const rules = rulesOf(schema, schemas)
      const key = field.includes('-') ? `'${field}'` : field
      return rules === undefined ? [] : `  ${key}: ${rules},\n`
    })
    return lines.length === 0 ? [] : `export const ${constantName(name)} = {\n${lines.join('')}} as const\n`
  })
  return [HEAD, ...constants].join('\n')
}

/** Undefined if the service accepts every value of the type. */
function rulesOf(schema: Schema, schemas: Record<string, Schema>): string | undefined {
  const shared = schema.$ref === undefined ? schema : schemas[schema.$ref.replace(/^.*\//, '')]
  const rules = KEYWORDS.flatMap((keyword) => {
    const value = shared?.[keyword]
    return value === undefined ? [] : `${keyword}: ${JSON.stringify(value)}`
  })
  const items = shared?.items && rulesOf(shared.items, schemas)
  if (items !== undefined) rules.push(`items: ${items}`)
  return rules.length === 0 ? undefined : `{ ${rules.join(', ')} }`
}

/** `NewPet` and `newPet` become `NEW_PET`. */
function constantName(name: string): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}
