// A part of the overview with its heading. While its data loads, it has the height that it will have later.
import { Card, Group, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { Loading } from '../layout/loading.tsx'

interface Props {
  title: string
  /** A link or a button next to the heading. */
  action?: ReactNode
  children: ReactNode
}

export function Section({ title, action, children }: Props) {
  const id = useId()
  return (
    <Card component="section" withBorder padding="md" aria-labelledby={id}>
      <Group justify="space-between" mt={-8} mb={4} gap="xs" mih={44} wrap="nowrap">
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </Card>
  )
}

export function LoadingSection({ title, height }: { title: string; height: number }) {
  return (
    <Section title={title}>
      <Loading what={title} height={height} />
    </Section>
  )
}
