// What is changed and not saved, and whether another person was faster. It asks before a person leaves the page.
import { Button, Kbd, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { VersionedSettings } from '@petstore/client'
import { useBlocker } from '@tanstack/react-router'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { LineNote } from '../layout/tints.tsx'
import { changedNames, type Draft, labelsText, savedByOthers } from './draft.ts'

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent)

interface Props {
  settings: VersionedSettings
  draft: Draft | undefined
  isPending: boolean
  onSave: () => void
  /** The person has read what another one has saved. */
  onKeep: () => void
  onDiscard: () => void
}

export function FootBar({ settings, draft, isPending, onSave, onKeep, onDiscard }: Props) {
  useHotkeys([['mod+S', onSave]], [])
  if (draft === undefined) return null
  const changed = changedNames(draft.base, draft.values)
  const byOthers = savedByOthers(draft, settings)
  return (
    <>
      {byOthers.length > 0 && (
        <div className="settings-error">
          <LineNote tone="wait" role="alert">
            <b>Not saved yet.</b> Another person has changed {labelsText(byOthers)} since you started. Keep
            what you entered and save it, or discard it to see what they saved.{' '}
            <Button size="compact-sm" variant="default" onClick={onKeep}>
              Keep mine
            </Button>
          </LineNote>
        </div>
      )}
      <div className="foot-bar">
        <Text size="sm" c="var(--ink-2)" role="status">
          <b>{labelsText(changed)}</b> {changed.length === 1 ? 'is' : 'are'} changed, not saved
        </Text>
        <Button variant="default" disabled={isPending} onClick={onDiscard}>
          Discard
        </Button>
        <Button type="submit" loading={isPending} rightSection={<SaveKey />}>
          Save
        </Button>
      </div>
      <LeaveDialog />
    </>
  )
}

function SaveKey() {
  return <Kbd className="only-desk">{IS_APPLE ? '⌘ S' : 'Ctrl S'}</Kbd>
}

function LeaveDialog() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Dialog title="What you changed is not saved" onClose={reset} isShort>
      <DialogFoot>
        <Button variant="default" onClick={proceed}>
          Leave without saving
        </Button>
        <Button data-autofocus onClick={reset}>
          Stay here
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
