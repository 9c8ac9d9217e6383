// An error of an operation that makes a key. If its outcome is unknown, a key may exist that no person has seen.
import { Alert } from '@mantine/core'
import { PetstoreError } from '@petstore/client'
import { ErrorMessage } from '../layout/error-message.tsx'

export function KeyError({ error }: { error: Error }) {
  if (!(error instanceof PetstoreError) || !error.outcomeUnknown) return <ErrorMessage error={error} />
  return (
    <Alert color="red" role="alert" title="Not sure whether it worked">
      The connection was lost before the server responded. Close this dialog and look at the list. If it shows
      a new key, revoke that key, because its text is lost. Then try again.
      {error.requestId !== undefined && ` (request ${error.requestId})`}
    </Alert>
  )
}
