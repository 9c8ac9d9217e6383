// The link back to the list. If you came from the list, it goes back in the history of the browser, which keeps the
// filters and the position in the list.
import { useRouter, useRouterState } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { ButtonLink } from '../layout/button-link.tsx'
import { BackIcon } from '../layout/icons.tsx'
import { lastFilters } from '../pets/last-list.ts'

export function BackToList() {
  const router = useRouter()
  const isFromList = useRouterState({ select: ({ location }) => location.state.isFromList === true })
  function goBack(event: MouseEvent): void {
    const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey
    if (!isPlainClick || !isFromList) return
    event.preventDefault()
    router.history.back()
  }
  return (
    <ButtonLink
      to="/"
      search={lastFilters()}
      variant="subtle"
      className="back-link"
      leftSection={<BackIcon size={16} />}
      onClick={goBack}
    >
      Pets
    </ButtonLink>
  )
}
