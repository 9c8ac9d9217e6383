// The frame of the dialogs that make a key: first a form, then the new key, which the dialog does not lose by accident.
import type { IssuedApiKey } from '@petstore/client'
import { type ReactNode, useState } from 'react'
import { Dialog } from '../layout/dialog.tsx'
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
  const [isCopied, setCopied] = useState(false)
  const [isWarned, setWarned] = useState(false)

  function close(): void {
    // The response contains the only copy of the key.
    if (isPending) return
    if (issued === undefined || isCopied || isWarned) return onClose()
    setWarned(true)
  }

  return (
    <Dialog title={issued === undefined ? title : 'Copy the new key'} onClose={close} isWide isModal>
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
    </Dialog>
  )
}
