// Shows a new key, once. Closing asks for a confirmation until the key was copied.
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import type { IssuedApiKey } from '@petstore/client'
import { useEffect, useRef, useState } from 'react'
import { dateText } from '../layout/dates.ts'

interface Props {
  apiKey: IssuedApiKey
  hint: string
  isCopied: boolean
  /** The person tried to close the dialog before the key was copied. */
  isWarned: boolean
  onCopied: () => void
  onClose: () => void
}

export function IssuedKey({ apiKey, hint, isCopied, isWarned, onCopied, onClose }: Props) {
  const field = useRef<HTMLTextAreaElement>(null)
  const copyButton = useRef<HTMLButtonElement>(null)
  const [isSelected, setSelected] = useState(false)
  useWarningBeforeUnload(!isCopied)
  // The button that had the focus was removed with the form.
  useEffect(() => copyButton.current?.focus(), [])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(apiKey.key)
      onCopied()
    } catch {
      // Browsers without HTTPS have no clipboard, and a person can deny the access.
      field.current?.focus()
      field.current?.select()
      setSelected(true)
    }
  }

  return (
    <Stack>
      <Text size="sm">
        Copy the key for <b>{apiKey.name}</b> now and store it in a safe place. It is shown only once. {hint}
      </Text>
      <Textarea
        ref={field}
        label="New API key"
        readOnly
        autosize
        value={apiKey.key}
        spellCheck={false}
        styles={{ input: { fontFamily: 'monospace', wordBreak: 'break-all' } }}
        onFocus={(event) => event.currentTarget.select()}
        onCopy={onCopied}
      />
      <Text size="sm" role="status">
        {copyText(isCopied, isSelected)}
      </Text>
      {apiKey.expiresAt !== undefined && (
        <Text size="sm" c="dimmed">
          The key expires on {dateText(apiKey.expiresAt)}.
        </Text>
      )}
      {isWarned && !isCopied && (
        <Alert color="orange" role="alert" title="You have not copied the key">
          After you close this dialog, the key cannot be shown again.
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {isWarned && !isCopied ? 'Close anyway' : 'Close'}
        </Button>
        <Button ref={copyButton} onClick={() => void copy()}>
          {isCopied ? 'Copy again' : 'Copy the key'}
        </Button>
      </Group>
    </Stack>
  )
}

function copyText(isCopied: boolean, isSelected: boolean): string {
  if (isCopied) return 'Copied.'
  return isSelected ? 'The key is selected. Press Ctrl+C (on a Mac: ⌘C), or copy it with a long press.' : ''
}

/** The browser asks before it closes or reloads the page. */
function useWarningBeforeUnload(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isOn])
}
