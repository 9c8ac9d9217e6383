// Asks before a key is revoked, and says whether the key still seems to be in use.
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { ApiKey } from '@petstore/client'
import { dateText } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useNow } from '../layout/use-now.ts'
import { agoText } from '../layout/when-text.ts'
import { isInUse } from './key-state.ts'
import { useRevokeApiKey } from './queries.ts'

interface Props {
  apiKey: ApiKey
  isOwn: boolean
  onClose: () => void
}

export function RevokeDialog({ apiKey, isOwn, onClose }: Props) {
  const now = useNow()
  const revoke = useRevokeApiKey()
  const notify = useNotify()
  const { name, createdAt, lastUsedAt } = apiKey
  const onSuccess = () => {
    onClose()
    notify.done(`Revoked the key of ${name}.`)
  }
  return (
    // A revoked key leaves the list, with the button that opened this dialog.
    <Dialog title={`Revoke the key of ${name}?`} onClose={onClose} focusId="create-key" isShort>
      <Stack>
        <Text size="sm">
          Within a second, the key stops working everywhere. You cannot undo this. Pets, holds and the history
          stay as they are.
        </Text>
        <Text size="sm">
          Created on {dateText(createdAt)}.{' '}
          {lastUsedAt === undefined ? 'Never used.' : <b>Last used {agoText(lastUsedAt, now)}.</b>}
        </Text>
        {isOwn ? (
          <Alert color="red" title="You are using this key">
            You will be signed out. Make sure that you have another key that allows you to manage keys.
          </Alert>
        ) : (
          isInUse(apiKey, now) && (
            <Alert color="orange" title="This key is probably in use">
              To replace it without interruption, rotate it instead.
            </Alert>
          )
        )}
        {revoke.error && <ErrorMessage error={revoke.error} />}
        <DialogFoot>
          <Button variant="default" data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button
            color="red.9"
            loading={revoke.isPending}
            onClick={() => revoke.mutate(apiKey.id, { onSuccess })}
          >
            Revoke key
          </Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}
