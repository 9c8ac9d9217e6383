// Serialises responses by the schemas of the operations. Fastify compiles a serializer for each operation, status and
// media type. Nine in ten are for the schema Error, so equal schemas share one serializer here.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Serializer = (data: unknown) => string
type Compile = (route: { schema: unknown }) => Serializer

/** Fastify calls this once. Compiles each distinct schema once. */
export function buildSerializer(...options: unknown[]): Compile {
  const build = SerializerSelector() as unknown as (...options: unknown[]) => Compile
  const compile = build(...options)
  const compiled = new Map<string, Serializer>()
  return (route) => {
    const key = JSON.stringify(route.schema)
    const serializer = compiled.get(key) ?? compile(route)
    compiled.set(key, serializer)
    return serializer
  }
}
