// Shows a new key or secret, once. Closing asks for a confirmation until it was copied.
import { Alert, Button, Stack, Text, Textarea } from '@mantine/core'
import { DialogFoot } from './dialog.tsx'
import { useEffect, useRef, useState } from 'react'

export interface Secret {
  /** What it is, in a sentence. */
  noun: 'key' | 'secret'
  /** The label of the field. */
  label: string
  /** The program, person or receiver that uses it. */
  owner: string
  text: string
  /** Such as when it expires. */
  note?: string | undefined
}

interface Props {
  secret: Secret
  hint: string
  isCopied: boolean
  /** The person tried to close the dialog before the secret was copied. */
  isWarned: boolean
  onCopied: () => void
  onClose: () => void
}

export function ShownSecret({ secret, hint, isCopied, isWarned, onCopied, onClose }: Props) {
  const { noun, label, owner, text, note } = secret
  const field = useRef<HTMLTextAreaElement>(null)
  const copyButton = useRef<HTMLButtonElement>(null)
  const [isSelected, setSelected] = useState(false)
  useWarningBeforeUnload(!isCopied)
  // The button that had the focus was removed with the form.
  useEffect(() => copyButton.current?.focus(), [])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
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
        Copy the {noun} for <b>{owner}</b> now and store it in a safe place. It is shown only once. {hint}
      </Text>
      <Textarea
        ref={field}
        label={label}
        readOnly
        autosize
        value={text}
        spellCheck={false}
        styles={{ input: { fontFamily: 'monospace', wordBreak: 'break-all' } }}
        onFocus={(event) => event.currentTarget.select()}
        onCopy={onCopied}
      />
      <Text size="sm" role="status">
        {copyText(noun, isCopied, isSelected)}
      </Text>
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
      {isWarned && !isCopied && (
        <Alert color="orange" role="alert" title={`You have not copied the ${noun}`}>
          After you close this dialog, the {noun} cannot be shown again.
        </Alert>
      )}
      <DialogFoot>
        <Button variant="default" onClick={onClose}>
          {isWarned && !isCopied ? 'Close anyway' : 'Close'}
        </Button>
        <Button ref={copyButton} onClick={() => void copy()}>
          {isCopied ? 'Copy again' : `Copy the ${noun}`}
        </Button>
      </DialogFoot>
    </Stack>
  )
}

function copyText(noun: string, isCopied: boolean, isSelected: boolean): string {
  if (isCopied) return 'Copied.'
  return isSelected
    ? `The ${noun} is selected. Press Ctrl+C (on a Mac: ⌘C), or copy it with a long press.`
    : ''
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
