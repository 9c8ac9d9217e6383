// The dialog of an action with many pets, and the pets that the action could not change.
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { ComponentProps } from 'react'
import { counted } from '../layout/counted.ts'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { type Failed } from './change-many.ts'

interface Props extends ComponentProps<typeof Dialog> {
  isBusy: boolean
}

/** Stays open during the action, because it shows the pets that fail. Then the bar that opened it can be gone. */
export function ManyDialog({ isBusy, onClose, ...props }: Props) {
  return <Dialog onClose={() => !isBusy && onClose()} focusId="content" {...props} />
}

interface FailedListProps {
  /** Such as "sold". */
  what: string
  failed: Failed[]
  onClose: () => void
}

export function FailedList({ what, failed, onClose }: FailedListProps) {
  return (
    <Stack>
      <Alert color="yellow" role="alert" title={`${counted(failed.length, 'pet')} could not be ${what}`}>
        <div className="pet-names" role="list" aria-label={`Pets that could not be ${what}`} tabIndex={0}>
          {failed.map(({ pet, reason }) => (
            <Text key={pet.id} size="sm" role="listitem">
              <b>{pet.name}</b> · No. {pet.id}: {reason}
            </Text>
          ))}
        </div>
      </Alert>
      <DialogFoot>
        <Button data-autofocus onClick={onClose}>
          Close
        </Button>
      </DialogFoot>
    </Stack>
  )
}
