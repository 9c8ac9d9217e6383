// An error with what to do, a button to try again, and the request id that helps the operator to find the cause.
import { Alert, Button, Group, Text } from '@mantine/core'
import { describeError } from './describe-error.ts'

interface Props {
  error: Error
  onRetry?: (() => void) | undefined
}

export function ErrorMessage({ error, onRetry }: Props) {
  const { title, text, requestId } = describeError(error)
  return (
    <Alert color="red" title={title} role="alert">
      <Text size="sm">{text}</Text>
      <Group mt="xs" gap="sm">
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {requestId !== undefined && (
          <Text size="xs" ff="monospace">
            Request {requestId}
          </Text>
        )}
      </Group>
    </Alert>
  )
}
