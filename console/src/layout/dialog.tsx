// A dialog that exists only while it is open. When it closes, the focus returns to the element that opened it.
import { Alert, Button, Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { IS_PHONE } from './theme.ts'

interface Props {
  title: string
  /** What the dialog is about, in a line below the title. */
  about?: string | undefined
  onClose: () => void
  /** The id of the element that gets the focus if the element that opened the dialog is gone. */
  focusId?: string | undefined
  /** Short dialogs do not fill the screen of a phone. */
  isShort?: boolean
  isWide?: boolean
  /** Two columns. */
  isWidest?: boolean
  /** A click outside the dialog never closes it. */
  isModal?: boolean
  /** What was entered is lost if the dialog closes. Then it asks first. */
  isForm?: boolean
  children: ReactNode
}

export function Dialog({ title, about, onClose, focusId, children, ...options }: Props) {
  const { isShort = false, isWide = false, isWidest = false, isModal = false, isForm = false } = options
  const isPhone = useMediaQuery(IS_PHONE) ?? false
  const [hasInput, setHasInput] = useState(false)
  const [isAsking, setAsking] = useState(false)
  useFocusReturn(focusId)
  return (
    <Modal
      opened
      onClose={() => (isForm && hasInput && !isAsking ? setAsking(true) : onClose())}
      title={
        <>
          {title}
          {about !== undefined && <span className="second">{about}</span>}
        </>
      }
      size={isWidest ? 840 : isWide ? 640 : 520}
      radius={isPhone && !isShort ? 0 : 'xl'}
      fullScreen={isPhone && !isShort}
      closeOnClickOutside={!isModal && !isAsking}
      centered={isShort}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isAsking && <NotSaved onClose={onClose} />}
      <div onInput={() => setHasInput(true)}>{children}</div>
    </Modal>
  )
}

/** The buttons of a dialog. They stay in view while its content scrolls. */
export function DialogFoot({ children }: { children: ReactNode }) {
  return <div className="dialog-foot">{children}</div>
}

function NotSaved({ onClose }: { onClose: () => void }) {
  return (
    <Alert
      ref={(element) => element?.scrollIntoView({ block: 'nearest' })}
      color="yellow"
      role="alert"
      title="What you entered is not saved"
      mb="md"
    >
      <Button size="xs" variant="default" onClick={onClose}>
        Close anyway
      </Button>
    </Alert>
  )
}

/** The focus return of Mantine needs a dialog that stays on the page while it is closed. */
function useFocusReturn(focusId: string | undefined): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      setTimeout(() => {
        const { activeElement } = document
        if (activeElement !== null && activeElement !== document.body) return
        const target = opener?.isConnected && opener !== document.body ? opener : elementWith(focusId)
        if (target instanceof HTMLElement) target.focus({ preventScroll: true })
      })
    },
    [opener, focusId],
  )
}

function elementWith(id: string | undefined): HTMLElement | null {
  return id === undefined ? null : document.getElementById(id)
}
