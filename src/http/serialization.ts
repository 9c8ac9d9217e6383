// Serialisation by the schemas of the operations. Fastify compiles one function for each operation, status and media
// type: nine in ten of them are for the same Error.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Serializer = (data: unknown) => string
type Compile = (route: { schema: unknown }) => Serializer

/** What Fastify calls once for the application: schemas that read the same are compiled once. */
export function buildSerializer(...coalesced: unknown[]): Compile {
  const build = SerializerSelector() as unknown as (...coalesced: unknown[]) => Compile
  const compile = build(...coalesced)
  const compiled = new Map<string, Serializer>()
  return (route) => {
    const key = JSON.stringify(route.schema)
    const serializer = compiled.get(key) ?? compile(route)
    compiled.set(key, serializer)
    return serializer
  }
}
