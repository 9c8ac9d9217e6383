// Asks before the session of a person is ended.
import { Button, Stack, Text } from '@mantine/core'
import type { ApiKey } from '@petstore/client'
import { dateTimeText } from '../layout/dates.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { useNotify } from '../layout/notify.tsx'
import { useRevokeApiKey } from './queries.ts'

interface Props {
  session: ApiKey
  onClose: () => void
}

export function EndSessionDialog({ session: { id, name, createdAt }, onClose }: Props) {
  const revoke = useRevokeApiKey()
  const notify = useNotify()
  const onSuccess = () => {
    onClose()
    notify.done(`Ended the session of ${name}.`)
  }
  return (
    // The session leaves the list, with the button that opened this dialog.
    <Dialog title={`End the session of ${name}?`} onClose={onClose} focusId="sessions" isShort>
      <Stack>
        <Text size="sm">
          It began on {dateTimeText(createdAt)}. Within a second, {name} is signed out in that browser, and a
          change that is not saved yet is lost. Holds, sales and the history stay as they are. {name} can sign
          in again.
        </Text>
        {revoke.error && <ErrorMessage error={revoke.error} />}
        <DialogFoot>
          <Button variant="default" data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button color="red.9" loading={revoke.isPending} onClick={() => revoke.mutate(id, { onSuccess })}>
            End session
          </Button>
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}
