// Exports the pets of the list, with its filters, to a file.
import { Alert, Button, Group, Input, SegmentedControl, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { counted } from '../layout/counted.ts'
import { dayOf } from '../layout/dates.ts'
import { Dialog } from '../layout/dialog.tsx'
import { download } from '../layout/download.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { petsIn } from '../pets/category-order.ts'
import { listFilters, type PetSearch } from '../pets/filters.ts'
import { categoriesQuery, categoryName } from '../pets/queries.ts'
import { statusText } from '../pets/status-tint.tsx'
import { useCounts } from '../pets/chips.tsx'
import { useStore } from '../session/session.ts'
import { EXPORTED_MAX, type ExportedFile, type ExportFormat, readExport } from './read-export.ts'

const FORMATS: { value: ExportFormat; label: string; use: string }[] = [
  { value: 'csv', label: 'CSV', use: 'For spreadsheets, and to import the pets again.' },
  { value: 'ndjson', label: 'NDJSON', use: 'For programs: one JSON object per line.' },
]

interface Props {
  search: PetSearch
  onClose: () => void
}

export function ExportDialog({ search, onClose }: Props) {
  const [format, setFormat] = useState<ExportFormat>('csv')
  const { start, count, file, error, isRunning } = useExport(search, format)
  return (
    <Dialog title="Export pets" onClose={onClose} isShort>
      <Stack>
        {file === undefined && <Content search={search} />}
        {file === undefined && <Choices format={format} onChange={setFormat} isDisabled={isRunning} />}
        {file !== undefined && <Done file={file} />}
        {error !== null && <ErrorMessage error={error} />}
        <Group justify="space-between">
          <Text size="sm" role="status">
            {isRunning && `${count.toLocaleString('en')} pets so far`}
          </Text>
          {file === undefined && (
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button loading={isRunning} onClick={start}>
                Export
              </Button>
            </Group>
          )}
          {file !== undefined && (
            <Button data-autofocus onClick={onClose}>
              Close
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  )
}

/** Reads and saves the file. Stops when the dialog closes. */
function useExport(search: PetSearch, format: ExportFormat) {
  const store = useStore()
  const [count, setCount] = useState(0)
  const [closing] = useState(() => new AbortController())
  useEffect(() => () => closing.abort(), [closing])
  const { id: _id, chipNumber: _chipNumber, ...filters } = listFilters(search)
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      readExport(store, { ...filters, format }, { signal: closing.signal, onCount: setCount }),
    onMutate: () => setCount(0),
    onSuccess: ({ bytes }) => download(new Blob(bytes), `pets-${dayOf(Date.now())}.${format}`),
  })
  return { start: () => mutate(), count, file: data, error, isRunning: isPending }
}

/** Such as "203 pets (Available)", or what the list shows if the service does not count it. */
function Content({ search }: { search: PetSearch }) {
  const { status, category, q } = search
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  const counts = useCounts(search)
  const count = counts && (status === undefined ? petsIn(counts) : counts[status])
  const filters = [
    status && statusText(status),
    category && categoryName(categories, category),
    q && `“${q}”`,
  ].filter(Boolean)
  return (
    <Text size="sm">
      The file has {count === undefined ? 'the pets' : counted(count, 'pet')}
      {filters.length > 0 && ` of the list (${filters.join(', ')})`} with their prices and facts
      {(count === undefined || count > EXPORTED_MAX) && `, at most ${EXPORTED_MAX.toLocaleString('en')}`}.
    </Text>
  )
}

interface ChoicesProps {
  format: ExportFormat
  onChange: (format: ExportFormat) => void
  isDisabled: boolean
}

function Choices({ format, onChange, isDisabled }: ChoicesProps) {
  return (
    <Input.Wrapper
      label="Format"
      description={FORMATS.find(({ value }) => value === format)?.use}
      labelElement="div"
      id="format"
    >
      <SegmentedControl
        fullWidth
        mt={6}
        aria-label="Format"
        data={FORMATS.map(({ value, label }) => ({ value, label }))}
        value={format}
        onChange={onChange}
        disabled={isDisabled}
      />
    </Input.Wrapper>
  )
}

function Done({ file: { petCount, isCut } }: { file: ExportedFile }) {
  const title = `${counted(petCount, 'pet')} exported`
  return (
    <Alert color={isCut ? 'yellow' : 'teal'} role="alert" title={title}>
      {isCut
        ? 'The file is full, and more pets can match. Choose a status or a category, and export each of them.'
        : 'Your browser has saved the file.'}
    </Alert>
  )
}
