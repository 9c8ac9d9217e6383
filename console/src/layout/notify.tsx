// Short messages at the bottom of the page, with a button that undoes the change. A message belongs to its session: a late
// response to an earlier session shows nothing to the next person.
import { Button, Group, Text } from '@mantine/core'
import {
  cleanNotifications,
  hideNotification,
  type NotificationData,
  notificationsStore,
  showNotification,
  updateNotification,
} from '@mantine/notifications'
import { useMemo } from 'react'
import { currentSession, randomId, useSession } from '../session/session.ts'
import { describeError } from './describe-error.ts'

/** Long enough to notice a mistake and to reach the button. */
const SHOWN_FOR_MS = 10_000
/** More messages would cover a phone. */
export const MESSAGES_MAX = 3

interface DoneOptions {
  /** The pet that has changed. Its earlier message is no longer true, so this one replaces it. */
  petId?: string | undefined
  /** Undoes the change, and returns a sentence that says so. */
  undo?: (() => Promise<string>) | undefined
}

export interface Notify {
  done: (text: string, options?: DoneOptions) => void
  error: (error: Error, petId?: string) => void
}

export function useNotify(): Notify {
  const id = useSession().session?.id
  return useMemo(() => notifyIn(id), [id])
}

export function closeMessages(): void {
  cleanNotifications()
}

function notifyIn(sessionId: string | undefined): Notify {
  const show = (petId: string | undefined, message: NotificationData) => {
    if (currentSession()?.id === sessionId) showMessage(petId, message)
  }

  function error(failure: Error, petId?: string): void {
    const { title, text, requestId } = describeError(failure)
    const message = requestId === undefined ? text : `${text} (request ${requestId})`
    show(petId, { color: 'red', title, message })
  }

  function done(text: string, { petId, undo }: DoneOptions = {}): void {
    const id = `done-${randomId()}`
    const runUndo = async (undoing: () => Promise<string>) => {
      hideNotification(id)
      try {
        done(await undoing(), { petId })
      } catch (failure) {
        error(failure as Error, petId)
      }
    }
    const message = (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{text}</Text>
        {undo && (
          <Button size="compact-sm" variant="light" flex="none" onClick={() => void runUndo(undo)}>
            Undo
          </Button>
        )}
      </Group>
    )
    show(petId, { id, message })
  }

  return { done, error }
}

function showMessage(petId: string | undefined, message: NotificationData): void {
  const { notifications: shown } = notificationsStore.getState()
  const isOutdated = (one: NotificationData) => petId !== undefined && one['data-pet'] === petId
  const others = shown.filter((one) => !isOutdated(one))
  // The new message is visible at once, instead of when an older one disappears.
  const oldest = others.slice(0, Math.max(0, others.length + 1 - MESSAGES_MAX))
  for (const { id = '' } of [...shown.filter(isOutdated), ...oldest]) hideNotification(id)
  // The library keeps a message while the mouse is over it. This keeps it for the keyboard too.
  const closeAfter = (autoClose: number | false) =>
    void updateNotification({ id, message: message.message, autoClose })
  const id = showNotification({
    autoClose: SHOWN_FOR_MS,
    onFocusCapture: () => closeAfter(false),
    onBlurCapture: () => closeAfter(SHOWN_FOR_MS),
    withBorder: true,
    closeButtonProps: { 'aria-label': 'Close the message' },
    ...(petId !== undefined && { 'data-pet': petId }),
    ...message,
  })
}
