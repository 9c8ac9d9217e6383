// The head of a page, with its actions at the right, and its content. It names the tab of the browser.
import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { usePageTitle } from './page-title.ts'

interface Props {
  title: string
  /** Next to the title, such as the number of pets. */
  count?: string | undefined
  /** A choice next to the title, such as the day. */
  beside?: ReactNode
  actions?: ReactNode
  /** The content reaches the edges of the page, as lists do. */
  isFlush?: boolean
  children: ReactNode
}

export function Page({ title, count, beside, actions, isFlush = false, children }: Props) {
  usePageTitle(title)
  return (
    <>
      <header className="page-head no-print">
        <Title order={1} size="h2">
          {title}
        </Title>
        {/* Outside of the heading, whose name does not change with it. */}
        {count !== undefined && <span className="page-count">{count}</span>}
        {beside}
        <div className="page-actions">{actions}</div>
      </header>
      {isFlush ? children : <div className="page-body">{children}</div>}
    </>
  )
}
