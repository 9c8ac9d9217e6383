// Imports pets from a CSV file: choose a file, check its rows, import them, and download the rejected ones.
import './import.css'
import { Alert, Button, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { csvText } from '../layout/csv.ts'
import { download } from '../layout/download.ts'
import { DownloadIcon } from '../layout/icons.tsx'
import { Page } from '../layout/page.tsx'
import { categoriesQuery } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { FileChooser } from './file-chooser.tsx'
import { ImportFile } from './import-file.tsx'
import { FileError, TEMPLATE_COLUMNS } from './pet-rows.ts'
import { type ReadFile, readFile } from './read-file.ts'

/** A shop with more categories than this knows its numbers. */
const CATEGORIES_SHOWN_MAX = 50

const EXAMPLE_COLUMNS = ['name', 'categoryId', 'status', 'price', 'breed', 'sex', 'bornOn']
const OTHER_COLUMNS = TEMPLATE_COLUMNS.filter((name) => !EXAMPLE_COLUMNS.includes(name))

export function ImportPage() {
  const canWrite = useScopes().has('pets:write')
  return <Page title="Import pets">{canWrite ? <Import /> : <NotAllowed />}</Page>
}

function Import() {
  const [file, setFile] = useState<ReadFile>()
  const [fault, setFault] = useState<string>()
  const [opened, setOpened] = useState(0)

  async function open(chosen: File): Promise<void> {
    try {
      setFile(await readFile(chosen))
      setOpened((before) => before + 1)
      setFault(undefined)
    } catch (error) {
      setFile(undefined)
      setFault(error instanceof FileError ? error.message : 'The browser cannot read it. Choose it again.')
    }
  }

  const onChoose = (chosen: File) => void open(chosen)
  // The same file can be opened again: its import then starts from what the browser remembers.
  if (file !== undefined) return <ImportFile key={opened} file={file} onChoose={onChoose} />
  return (
    <>
      <FileChooser onChoose={onChoose} />
      {fault !== undefined && (
        <Alert color="red" role="alert" title="This file cannot be imported">
          {fault}
        </Alert>
      )}
      <FileFormat />
    </>
  )
}

function FileFormat() {
  return (
    <section aria-label="The file">
      <Title order={2} size="h5" mb="xs">
        What the file must look like
      </Title>
      <pre className="file-example" tabIndex={0}>
        {`${EXAMPLE_COLUMNS.join()}\nBiscuit,1,available,129.00,Beagle,female,2026-08-14\nRex,2,,,,,`}
      </pre>
      <Button
        variant="default"
        size="sm"
        mt="xs"
        leftSection={<DownloadIcon size={16} />}
        onClick={() => download(csvText([TEMPLATE_COLUMNS]), 'pets.csv')}
      >
        Download a template
      </Button>
      <Text size="sm" mt="xs" maw={720}>
        The first line names the columns, in any order. Only name and categoryId are required: categoryId is
        the number of the category. status is available (also if empty), pending or sold. sex is female, male
        or unknown. You can also have the columns {OTHER_COLUMNS.join(', ')} and currency. Other columns are
        ignored. In a spreadsheet, choose “CSV UTF-8” to save the file.
      </Text>
      <CategoryNumbers />
    </section>
  )
}

/** A file has the numbers of the categories, which no other page shows. */
function CategoryNumbers() {
  const { data: categories } = useQuery(categoriesQuery(useStore()))
  if (categories === undefined) return null
  const named = categories.filter(({ name }) => name !== undefined)
  if (named.length === 0) {
    return (
      <Text size="sm" mt="xs" maw={720}>
        No category has a name yet.{' '}
        <AnchorLink to="/" search={{ add: true }} inherit underline="always">
          Add a pet
        </AnchorLink>
        , and choose New next to the category. This page then shows its number.
      </Text>
    )
  }
  const more = named.length - CATEGORIES_SHOWN_MAX
  return (
    <Text size="sm" mt="xs" maw={720}>
      Your categories:{' '}
      {named
        .slice(0, CATEGORIES_SHOWN_MAX)
        .map(({ id, name }) => `${id} ${name}`)
        .join(', ')}
      {more > 0 && ` and ${more} more`}.
    </Text>
  )
}

function NotAllowed() {
  return (
    <Alert color="gray" title="Your key does not allow this page">
      <Text size="sm">Ask your administrator for a key with the permission pets:write.</Text>
    </Alert>
  )
}
