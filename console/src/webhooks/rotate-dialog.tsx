// Replaces the secret of a webhook. During the overlap, messages are signed with both.
import { Button, Stack, Text } from '@mantine/core'
import { DialogFoot } from '../layout/dialog.tsx'
import type { Webhook } from '@petstore/client'
import { useState } from 'react'
import { OVERLAP_DEFAULT, OVERLAPS, secondsOf } from '../api-keys/lifetimes.ts'
import { OverlapField } from '../api-keys/overlap-field.tsx'
import { dateTimeText } from '../layout/dates.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { SecretError } from '../layout/secret-error.tsx'
import { nameOf } from './health.ts'
import { useRotateSecret } from './queries.ts'

interface Props {
  webhook: Webhook
  onClose: () => void
}

export function RotateDialog({ webhook, onClose }: Props) {
  const { mutate, data, error, isPending } = useRotateSecret(webhook.id)
  const [overlap, setOverlap] = useState(OVERLAP_DEFAULT)
  const overlapSeconds = secondsOf(OVERLAPS, overlap) ?? 0
  return (
    <SecretDialog
      title={`Rotate the secret of ${nameOf(webhook)}`}
      secret={data && { noun: 'secret', label: 'New secret', owner: nameOf(webhook), text: data.secret }}
      hint={
        overlapSeconds === 0
          ? 'The old secret does not work any more.'
          : `Enter it in the receiver before ${endOf(overlapSeconds)}.`
      }
      isPending={isPending}
      onClose={onClose}
    >
      <Stack>
        <Text size="sm">
          You get a new secret. During the overlap, every message is signed with the old and the new one.
          Enter the new secret in the receiver in that time, and no message is rejected.
        </Text>
        <OverlapField
          description={
            overlapSeconds === 0
              ? 'The receiver rejects every message until it has the new secret. Choose this if the old one has leaked.'
              : `The old secret works until ${endOf(overlapSeconds)}.`
          }
          choices={OVERLAPS}
          value={overlap}
          onChange={setOverlap}
        />
        {error && (
          <SecretError error={error} advice="A new secret may exist, but its text is lost. Rotate again." />
        )}
        <DialogFoot>
          <Button variant="default" disabled={isPending} onClick={onClose}>
            Cancel
          </Button>
          <Button data-autofocus loading={isPending} onClick={() => mutate({ overlapSeconds })}>
            Rotate secret
          </Button>
        </DialogFoot>
      </Stack>
    </SecretDialog>
  )
}

function endOf(overlapSeconds: number): string {
  return dateTimeText(Date.now() + overlapSeconds * 1_000)
}
