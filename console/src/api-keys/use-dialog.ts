// Which dialog of a page is open. Closing it moves the focus back to the button that opened it.
import { type RefObject, useRef, useState } from 'react'

export interface Dialog<Content> {
  content: Content | undefined
  open: (content: Content) => void
  close: () => void
}

/** `fallback` gets the focus if the button is gone, for example with the row of a revoked key. */
export function useDialog<Content>(fallback: RefObject<HTMLElement | null>): Dialog<Content> {
  const [content, setContent] = useState<Content>()
  const opener = useRef<Element>(null)
  return {
    content,
    open: (next) => {
      opener.current = document.activeElement
      setContent(next)
    },
    close: () => {
      setContent(undefined)
      // After the dialog is removed, which holds the focus until then.
      setTimeout(() => {
        const target = opener.current?.isConnected === true ? opener.current : fallback.current
        if (target instanceof HTMLElement) target.focus()
      })
    },
  }
}
