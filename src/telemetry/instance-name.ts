// The name of this process in PostgreSQL (`application_name`) and in traces (`service.instance.id`).
import { hostname } from 'node:os'

export function instanceName(): string {
  return `petstore@${hostname()}:${process.pid}`
}
