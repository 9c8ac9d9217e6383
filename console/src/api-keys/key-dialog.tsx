// The frame of the dialogs that make a key: first a form, then the new key, which the dialog does not lose by accident.
import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { IssuedApiKey } from '@petstore/client'
import { type ReactNode, useState } from 'react'
import { IssuedKey } from './issued-key.tsx'

interface Props {
  title: string
  /** The new key, after the service has made it. */
  issued: IssuedApiKey | undefined
  /** What to do with the new key. */
  hint: string
  isPending: boolean
  onClose: () => void
  children: ReactNode
}

export function KeyDialog({ title, issued, hint, isPending, onClose, children }: Props) {
  const isPhone = useMediaQuery('(max-width: 40em)')
  const [isCopied, setCopied] = useState(false)
  const [isWarned, setWarned] = useState(false)

  function close(): void {
    // The response contains the only copy of the key.
    if (isPending) return
    if (issued === undefined || isCopied || isWarned) return onClose()
    setWarned(true)
  }

  return (
    <Modal
      opened
      onClose={close}
      title={issued === undefined ? title : 'Copy the new key'}
      size="lg"
      fullScreen={isPhone ?? false}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {issued === undefined ? (
        children
      ) : (
        <IssuedKey
          apiKey={issued}
          hint={hint}
          isCopied={isCopied}
          isWarned={isWarned}
          onCopied={() => setCopied(true)}
          onClose={close}
        />
      )}
    </Modal>
  )
}
