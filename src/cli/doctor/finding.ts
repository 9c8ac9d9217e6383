// The result of one check of `petstore doctor`.

export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'fault'
  message: string
  remedy?: string
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
