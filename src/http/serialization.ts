// Serialises responses with the schemas of the operations. By default, Fastify compiles a serializer for each
// operation, status and media type. Nine in ten of them are for the schema Error, so here equal schemas share one
// serializer.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Serializer = (data: unknown) => string
type Compile = (route: { schema: unknown }) => Serializer

/** Fastify calls this function once. Each distinct schema is compiled once, for the first response that has it. */
export function buildSerializer(...options: unknown[]): Compile {
  const build = SerializerSelector() as unknown as (...options: unknown[]) => Compile
  const compile = build(...options)
  const shared = new Map<string, { serialize?: Serializer }>()
  return (route) => {
    const key = JSON.stringify(route.schema)
    const entry = shared.get(key) ?? {}
    shared.set(key, entry)
    return (data) => (entry.serialize ??= compile(route))(data)
  }
}
