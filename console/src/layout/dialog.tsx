// A dialog that exists only while it is open. When it closes, the focus returns to the element that opened it.
import { Modal } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'

interface Props {
  title: string
  onClose: () => void
  /** The id of the element that gets the focus if the element that opened the dialog is gone. */
  focusId?: string | undefined
  /** Short dialogs do not fill the screen of a phone. */
  isShort?: boolean
  isWide?: boolean
  /** A click outside the dialog does not close it. */
  isModal?: boolean
  children: ReactNode
}

export function Dialog({ title, onClose, focusId, children, ...options }: Props) {
  const { isShort = false, isWide = false, isModal = false } = options
  const isPhone = useMediaQuery('(max-width: 40em)') ?? false
  useFocusReturn(focusId)
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={isWide ? 'lg' : 'md'}
      fullScreen={isPhone && !isShort}
      closeOnClickOutside={!isModal}
      centered={isShort}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
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
