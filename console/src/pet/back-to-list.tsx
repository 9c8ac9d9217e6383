// The link back to the list, or to the holds. If you came from there, it goes back in the history of the browser, which
// keeps the filters and the position.
import { useRouter, useRouterState } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { ButtonLink } from '../layout/button-link.tsx'
import { BackIcon } from '../layout/icons.tsx'
import { lastFilters } from '../pets/last-list.ts'

export function BackToList() {
  const router = useRouter()
  const isFromList = useRouterState({ select: ({ location }) => location.state.isFromList === true })
  const isFromHolds = useRouterState({ select: ({ location }) => location.state.isFromHolds === true })
  function goBack(event: MouseEvent): void {
    const isPlainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey
    if (!isPlainClick || !(isFromList || isFromHolds)) return
    event.preventDefault()
    router.history.back()
  }
  const look = {
    variant: 'subtle',
    className: 'back-link',
    leftSection: <BackIcon size={16} />,
    onClick: goBack,
  }
  return isFromHolds ? (
    <ButtonLink to="/holds" {...look}>
      Holds
    </ButtonLink>
  ) : (
    <ButtonLink to="/" search={lastFilters()} {...look}>
      Pets
    </ButtonLink>
  )
}
