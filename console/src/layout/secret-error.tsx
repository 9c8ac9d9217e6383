// An error of an operation that makes a key or a secret. If its outcome is unknown, one may exist that no person has seen.
import { Alert } from '@mantine/core'
import { PetstoreError } from '@petstore/client'
import { ErrorMessage } from './error-message.tsx'

interface Props {
  error: Error
  /** What to do if the outcome is unknown. */
  advice: string
}

export function SecretError({ error, advice }: Props) {
  if (!(error instanceof PetstoreError) || !error.outcomeUnknown) return <ErrorMessage error={error} />
  return (
    <Alert color="red" role="alert" title="Not sure whether it worked">
      The connection was lost before the server responded. {advice}
      {error.requestId !== undefined && ` (request ${error.requestId})`}
    </Alert>
  )
}
