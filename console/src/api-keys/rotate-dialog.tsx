// Replaces a key by a new one. Both keys work during the overlap.
import { Alert, Button, Stack, Text } from '@mantine/core'
import { DialogFoot } from '../layout/dialog.tsx'
import type { ApiKey } from '@petstore/client'
import { useState } from 'react'
import { dateTimeText } from '../layout/dates.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { SecretError } from '../layout/secret-error.tsx'
import { issuedKey, KEY_LOST_ADVICE } from './issued-key.ts'
import { OVERLAP_DEFAULT, OVERLAPS, oldKeyEndsAt, secondsOf } from './lifetimes.ts'
import { OverlapField } from './overlap-field.tsx'
import { useRotateApiKey } from './queries.ts'

interface Props {
  apiKey: ApiKey
  isOwn: boolean
  onClose: () => void
}

export function RotateDialog({ apiKey, isOwn, onClose }: Props) {
  const rotate = useRotateApiKey()
  const [overlap, setOverlap] = useState(OVERLAP_DEFAULT)
  const overlapSeconds = secondsOf(OVERLAPS, overlap) ?? 0
  // Without an overlap, the session of this page would end before the new key can be copied.
  const choices = OVERLAPS.filter(({ seconds }) => !isOwn || seconds > 0)
  return (
    <SecretDialog
      title={`Rotate the key of ${apiKey.name}`}
      secret={rotate.data && issuedKey(rotate.data)}
      hint={
        overlapSeconds === 0
          ? 'The old key does not work any more.'
          : `Use it instead of the old key before ${dateTimeText(oldKeyEndsAt(apiKey, overlapSeconds, Date.now()))}.`
      }
      isPending={rotate.isPending}
      onClose={onClose}
    >
      <Stack>
        <Text size="sm">
          You get a new key with the same name, permissions and lifetime. During the overlap, the old and the
          new key both work. Change to the new key in that time, and nothing is interrupted.
        </Text>
        <OverlapField
          description={overlapText(apiKey, overlapSeconds)}
          choices={choices}
          value={overlap}
          onChange={setOverlap}
        />
        {isOwn && (
          <Alert color="orange" title="You are using this key">
            Copy the new key, sign out, and sign in with the new key before the overlap ends.
          </Alert>
        )}
        {rotate.error && <SecretError error={rotate.error} advice={KEY_LOST_ADVICE} />}
        <DialogFoot>
          <Button variant="default" disabled={rotate.isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button
            data-autofocus
            loading={rotate.isPending}
            onClick={() => rotate.mutate({ id: apiKey.id, overlapSeconds })}
          >
            Rotate key
          </Button>
        </DialogFoot>
      </Stack>
    </SecretDialog>
  )
}

function overlapText(apiKey: ApiKey, overlapSeconds: number): string {
  if (overlapSeconds === 0) return 'The old key stops working at once. Choose this if it may have leaked.'
  return `The old key works until ${dateTimeText(oldKeyEndsAt(apiKey, overlapSeconds, Date.now()))}.`
}
