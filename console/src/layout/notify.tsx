// Short messages at the bottom of the page, with a button that undoes the change.
import { Button, Group, Text } from '@mantine/core'
import { hideNotification, showNotification } from '@mantine/notifications'
import { describeError } from './describe-error.ts'

/** Long enough to notice a mistake and to reach the button. */
const SHOWN_FOR_MS = 10_000

export function notifyDone(text: string, undo?: () => Promise<unknown>): void {
  const id = `done-${Date.now()}`
  const runUndo = () => {
    hideNotification(id)
    undo?.().catch(notifyError)
  }
  showNotification({
    id,
    autoClose: SHOWN_FOR_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close the message' },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{text}</Text>
        {undo && (
          <Button size="compact-sm" variant="light" flex="none" onClick={runUndo}>
            Undo
          </Button>
        )}
      </Group>
    ),
  })
}

export function notifyError(error: Error): void {
  const { title, text, requestId } = describeError(error)
  showNotification({
    color: 'red',
    title,
    autoClose: SHOWN_FOR_MS,
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close the message' },
    message: requestId === undefined ? text : `${text} (request ${requestId})`,
  })
}
