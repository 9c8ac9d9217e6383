// One file: a preview, the import with its progress, and the result.
import { Alert, Button, Card, Group, Stack, Text } from '@mantine/core'
import { PetstoreError } from '@petstore/client'
import { ButtonLink } from '../layout/button-link.tsx'
import { counted } from '../layout/counted.ts'
import { dateTimeText } from '../layout/dates.ts'
import { describeError } from '../layout/describe-error.ts'
import { download } from '../layout/download.ts'
import { DownloadIcon } from '../layout/icons.tsx'
import { FileButton } from './file-chooser.tsx'
import { FirstRows, RejectedRows, UnnamedCategories } from './file-rows.tsx'
import type { PastImport } from './past-imports.ts'
import { isAccepted, type RejectedRow } from './pet-rows.ts'
import type { ReadFile } from './read-file.ts'
import { rejectedCsv, rejectedName } from './rejected-list.ts'
import { type Progress, rejectedRows } from './run-import.ts'
import { useImport } from './use-import.ts'

interface Props {
  file: ReadFile
  onChoose: (file: File) => void
}

export function ImportFile({ file, onChoose }: Props) {
  const { past, namesake, isAdded, isChecking, progress, isRunning, isDoubtful, error, ...actions } =
    useImport(file)
  const { rows } = file
  const accepted = rows.filter(isAccepted)
  const rejected = rejectedRows(file, progress)
  const isDone = progress.rows === rows.length
  const isStarted = progress.rows > 0 || progress.sent !== undefined
  return (
    <>
      <Card component="section" withBorder aria-label="File">
        <Stack gap="sm">
          <Text fw={600} className="file-name">
            {file.name}
          </Text>
          {!isDone && (
            <Text>
              {counted(accepted.length, 'pet')} can be imported.{' '}
              {rejected.length > 0 && `${counted(rejected.length, 'row')} cannot: see below why.`}
            </Text>
          )}
          {isStarted && !isDone && (
            <ProgressBar done={progress.rows} total={rows.length} isRunning={isRunning} />
          )}
          {past !== undefined && !isRunning && !isDoubtful && <PastAlert past={past} total={rows.length} />}
          {isDoubtful && <DoubtAlert file={file} progress={progress} onDecide={actions.decide} />}
          {namesake !== undefined && !isStarted && !isRunning && <NamesakeAlert namesake={namesake} />}
          {isAdded && namesake === undefined && !isRunning && <AddedAlert />}
          {isDone && past === undefined && <DoneAlert added={progress.added} rejected={rejected.length} />}
          {error !== null && !isDoubtful && <Stopped error={error} />}
          <Group gap="xs">
            {!isDone && !isDoubtful && accepted.length > 0 && (
              <Button loading={isRunning || isChecking} onClick={actions.start}>
                {isStarted ? 'Continue' : `Import ${counted(accepted.length, 'pet')}`}
              </Button>
            )}
            {isDone && <ButtonLink to="/">Show the pets</ButtonLink>}
            {past !== undefined && isDone && (
              <Button variant="default" onClick={actions.startAgain}>
                Add these pets a second time
              </Button>
            )}
            {rejected.length > 0 && !isRunning && <DownloadButton file={file} rows={rejected} />}
            {!isRunning && (
              <FileButton variant="default" onChoose={onChoose}>
                Choose another file
              </FileButton>
            )}
          </Group>
        </Stack>
      </Card>
      {!isDone && <UnnamedCategories rows={accepted} />}
      {!isDone && <FirstRows rows={accepted} />}
      {rejected.length > 0 && <RejectedRows rows={rejected} />}
    </>
  )
}

function DownloadButton({ file, rows }: { file: ReadFile; rows: RejectedRow[] }) {
  return (
    <Button
      variant="default"
      leftSection={<DownloadIcon size={16} />}
      onClick={() => download(rejectedCsv(file, rows), rejectedName(file.name))}
    >
      Download rejected rows
    </Button>
  )
}

function ProgressBar({ done, total, isRunning }: { done: number; total: number; isRunning: boolean }) {
  return (
    <div>
      <progress className="import-progress" aria-label="Imported rows" max={total} value={done} />
      <Text size="sm" role="status">
        {done.toLocaleString('en')} of {counted(total, 'row')} done. {isRunning && 'Keep this page open.'}
      </Text>
    </div>
  )
}

/** This browser has imported the file before, or a part of it. */
function PastAlert({ past, total }: { past: PastImport; total: number }) {
  const when = dateTimeText(past.at)
  if (past.rows === total) {
    return (
      <Alert color="yellow" role="alert" title="This file was imported before">
        This browser imported it on {when}: {counted(past.added, 'pet')} added.
      </Alert>
    )
  }
  return (
    <Alert color="blue" role="alert" title="Part of this file is imported already">
      This browser imported the first {counted(past.rows, 'row')} until {when}, then the import stopped.
      Continue with the others: no pet is added twice.
    </Alert>
  )
}

/** The rows were sent with the key of another person or program, or too long ago for the service to know them again. */
function DoubtAlert({
  file: { rows },
  progress,
  onDecide,
}: {
  file: ReadFile
  progress: Progress
  onDecide: (wasAdded: boolean) => void
}) {
  const sent = rows.slice(progress.rows, progress.sent?.rows).filter(isAccepted)
  const [first, last] = [sent[0], sent.at(-1)]
  return (
    <Alert color="yellow" role="alert" title="Some pets may have been added already">
      <Text size="sm">
        {counted(sent.length, 'pet')} of this file, from {first?.pet.name} (line {first?.record.line}) to{' '}
        {last?.pet.name} (line {last?.record.line}), were sent on {dateTimeText(progress.sent?.at ?? '')}, but
        the response was lost. You now use another key, or it was long ago: the server would add them again.
        Look for them in the list of pets. They were added together, or none of them.
      </Text>
      <Group gap="xs" mt="xs">
        <Button size="sm" variant="default" onClick={() => onDecide(true)}>
          They are in the list: skip them
        </Button>
        <Button size="sm" variant="default" onClick={() => onDecide(false)}>
          They are not: add them
        </Button>
      </Group>
    </Alert>
  )
}

/** The corrected file would add the pets again that were imported from it before. */
function NamesakeAlert({ namesake: { at, added } }: { namesake: PastImport }) {
  return (
    <Alert color="yellow" role="alert" title="A file with this name was imported before">
      This browser added {counted(added, 'pet')} from it on {dateTimeText(at)}. If this is that file with
      corrections, import only its rejected rows: all others would be added again.
    </Alert>
  )
}

/** The import of another browser or person. */
function AddedAlert() {
  return (
    <Alert color="yellow" role="alert" title="These pets seem to be in the list already">
      The first and the last pet of this file are in the list, with the same names and categories. Another
      person may have imported the file. Import it only if these are other pets.
    </Alert>
  )
}

function Stopped({ error }: { error: Error }) {
  const { text, requestId } = describeError(error)
  // The general text asks to check the pet, but a batch is safe to send again.
  const isLost = error instanceof PetstoreError && error.outcomeUnknown
  return (
    <Alert color="red" role="alert" title="The import has stopped">
      <Text size="sm">
        {isLost ? 'The connection was lost.' : text} Continue here, or choose the same file again later: no
        pet is added twice.
      </Text>
      {requestId !== undefined && (
        <Text size="xs" ff="monospace" mt="xs">
          Request {requestId}
        </Text>
      )}
    </Alert>
  )
}

function DoneAlert({ added, rejected }: { added: number; rejected: number }) {
  return (
    <Alert color="teal" role="status" title={`${counted(added, 'pet')} added`}>
      {rejected === 0
        ? 'Every row was imported.'
        : `${counted(rejected, 'row')} ${rejected === 1 ? 'was' : 'were'} rejected. Download them, fix them, and import that file.`}
    </Alert>
  )
}
