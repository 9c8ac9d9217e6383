// The frame of the dialogs that make a key or a secret: first a form, then the secret, which the dialog does not lose by
// accident.
import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { type Secret, ShownSecret } from './shown-secret.tsx'

interface Props {
  title: string
  /** The new secret, after the service has made it. */
  secret: Secret | undefined
  /** What to do with the secret. */
  hint: string
  isPending: boolean
  /** The id of the element that gets the focus if the element that opened the dialog is gone. */
  focusId?: string | undefined
  onClose: () => void
  children: ReactNode
}

export function SecretDialog({ title, secret, hint, isPending, focusId, onClose, children }: Props) {
  const [isCopied, setCopied] = useState(false)
  const [isWarned, setWarned] = useState(false)

  function close(): void {
    // The response contains the only copy of the secret.
    if (isPending) return
    if (secret === undefined || isCopied || isWarned) return onClose()
    setWarned(true)
  }

  return (
    <Dialog
      title={secret === undefined ? title : `Copy the new ${secret.noun}`}
      focusId={focusId}
      onClose={close}
      isWide
      isModal
      isForm={secret === undefined}
    >
      {secret === undefined ? (
        children
      ) : (
        <ShownSecret
          secret={secret}
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
