// A part of a page, under a heading: of one subject, below a hairline, or in a card on a page with several subjects.
import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { Loading } from './loading.tsx'

interface Props {
  title: string
  isCard?: boolean
  /** A link or a button next to the heading. */
  action?: ReactNode
  children: ReactNode
}

export function Section({ title, isCard = false, action, children }: Props) {
  const id = useId()
  return (
    <section className={isCard ? 'card' : 'section'} aria-labelledby={id}>
      <header className="section-head">
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {action}
      </header>
      {children}
    </section>
  )
}

export function LoadingSection({ title, height }: { title: string; height: number }) {
  return (
    <Section title={title} isCard>
      <Loading what={title} height={height} />
    </Section>
  )
}
